// Legal configurations of a kernel, stated by knobs, auxiliary variables and constraints. Queries:
// count, enumerate, sample, neighbours, and the violations of a configuration.
//
//   SpaceBuilder builder;
//   Expression m = builder.knob("tile_m", "rows of C per workgroup", {16, 32, 64, 128});
//   Expression count = builder.auxiliary("subgroups", 1, 32);
//   builder.require("tile", "tile_m is a whole number of 16-row subgroups", m == count * 16);
//   builder.prefer("few_subgroups", "more than 4 subgroups spill registers", count <= 4);
//   HONE_ASSIGN(Space space, builder.build());
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "space/expression.h"

namespace hone::space {

// kHard: a configuration that breaks it is illegal. kSoft: a guess about speed, which Space::relax
// drops. Both hold in a space until relaxed.
enum class Hardness { kHard, kSoft };

struct Knob {
  std::string name;
  std::string description;
  // Domain in its stable order: as stated, or for a range the values that propagation left,
  // ascending.
  std::vector<Value> values;
  std::optional<std::pair<Value, Value>> range;  // lower and upper bound, inclusive, when stated so
};

// Whether `value` is in the stated domain.
bool contains(const Knob& knob, Value value);

struct Constraint {
  std::string name;
  std::string reason;  // words; each "{}" stands for one of `arguments`
  Hardness hardness = Hardness::kHard;
  Expression expression = true;
  std::vector<Expression> arguments;
};

// Values of all knobs, in the space's order of knobs.
struct Configuration {
  std::vector<Value> values;

  bool operator==(const Configuration&) const = default;
  auto operator<=>(const Configuration&) const = default;
};

// Number of configurations; an upper bound of it if `exact` is false.
struct Count {
  std::uint64_t value = 0;
  bool exact = true;
};

struct Violation {
  std::string constraint;  // its name; "domain" where a knob's value is not in its domain
  Hardness hardness = Hardness::kHard;
  std::string reason;  // the constraint's words and the values: "m is ... (48 % 32 == 0): m = 48"
};

struct SpaceOptions {
  // Limit in bytes of the memoised subtree counts. Above it, count() is a bound, at() is an error,
  // and samples are drawn by rejection.
  std::size_t memory_cap = std::size_t{256} << 20;
};

class CompiledSpace;
struct EnumeratorState;
class UnitedSpace;

// Walks the configurations of a space in its stable order, one at a time, without listing them.
// Not for use by two threads at once.
class Enumerator {
 public:
  explicit Enumerator(std::shared_ptr<const CompiledSpace> space);
  explicit Enumerator(std::shared_ptr<const UnitedSpace> space);
  Enumerator(Enumerator&&) noexcept;
  Enumerator& operator=(Enumerator&&) noexcept;
  ~Enumerator();

  // The next configuration; nothing after the last.
  std::optional<Configuration> next();
  // Writes the next one into `configuration`, whose memory it reuses; false after the last.
  bool next(Configuration& configuration);

 private:
  std::unique_ptr<EnumeratorState> state_;
};

// Immutable and cheap to copy; thread-safe. Solutions are projections onto the knobs: a
// configuration counts once, however many values of the auxiliary variables it has.
class Space {
 public:
  // Unites several spaces (at least one). The new knob `selector` is the position of the part that
  // a configuration belongs to. Knobs of equal name are one knob; a knob that a part lacks is
  // kAbsent there. A part may not be a united space.
  static Space unite(std::string selector, std::string description, std::vector<Space> parts);
  static constexpr Value kAbsent = 0;
  // Parts of a united space, in order; empty for any other space.
  const std::vector<Space>& parts() const;

  const std::vector<Knob>& knobs() const;
  const std::vector<Constraint>& constraints() const;
  // Position in knobs(); an input error with the nearest names for an unknown one.
  Result<std::size_t> knob_index(std::string_view name) const;
  // Values of knob `index` that propagation left, in the domain's order. Every configuration has
  // one of them, but not each value need have a configuration.
  const std::vector<Value>& narrowed(std::size_t index) const;

  // Exact unless the memory cap (SpaceOptions) is exceeded or the count leaves 64 bits; then the
  // product of the narrowed domains.
  Count count() const;
  bool empty() const;

  // The configuration at `index` in enumeration order, found from the memoised counts. Errors:
  // input, beyond the end; failure, the count is not exact.
  Result<Configuration> at(std::uint64_t index) const;

  // All configurations in a stable order: it depends on the space alone and is the order of at().
  Enumerator enumerate() const;

  // Draws a configuration with equal probability for each. Uses at() if the count is exact.
  // Otherwise draws by rejection from the product of the narrowed domains, and fails after
  // kMaximumDraws draws. A failure for an empty space.
  Result<Configuration> sample(std::mt19937_64& generator) const;
  // Draws `n` different configurations in random order, each set of n with equal probability; all
  // of them if there are fewer. May return fewer if the count is not exact (see sample()).
  Result<std::vector<Configuration>> samples(std::size_t n, std::uint64_t seed) const;
  static constexpr std::uint64_t kMaximumDraws = 20'000'000;

  // Returns the legal configurations that differ from `configuration` in one knob, by knob, then in
  // the domain's order. Every value of the domain is tried, not only adjacent ones (tile sizes
  // jump). Knobs that an equality computes from the others (is_computed) follow the changed one.
  std::vector<Configuration> neighbours(const Configuration& configuration) const;
  // Whether enumeration computes knob `index` from others by an equality among the constraints
  // (threads == subgroups * 64) instead of trying its values.
  bool is_computed(std::size_t index) const;

  // Whether `configuration` keeps every constraint.
  bool is_legal(const Configuration& configuration) const;
  // Constraints that `configuration` breaks, in the order of constraints(); empty for a legal one.
  // A constraint over auxiliary variables is broken if no values of them satisfy it together with
  // the constraints before it.
  std::vector<Violation> check(const Configuration& configuration) const;

  // Returns the space without the soft constraints in `names` ("all": every one). Input errors: an
  // unknown name (with the nearest ones), the name of a hard constraint.
  Result<Space> relax(const std::vector<std::string>& names) const;

  // Returns the value of the knob called `name`. Errors as knob_index().
  Result<Value> value(const Configuration& configuration, std::string_view name) const;

 private:
  friend class SpaceBuilder;
  explicit Space(std::shared_ptr<const CompiledSpace> compiled) : compiled_(std::move(compiled)) {}
  explicit Space(std::shared_ptr<const UnitedSpace> united) : united_(std::move(united)) {}

  // Exactly one of the two is set.
  std::shared_ptr<const CompiledSpace> compiled_;
  std::shared_ptr<const UnitedSpace> united_;
};

// Variable and Definition: a space as stated, before it is compiled.
struct Variable {
  std::string name = {};
  std::string description = {};
  bool auxiliary = false;
  bool ranged = false;             // [lower, upper] instead of `values`
  std::vector<Value> values = {};  // in the stated order
  Value lower = 0;
  Value upper = 0;
  Expression expression = true;
};
struct Definition {
  std::vector<Variable> variables;  // knobs and auxiliary variables as declared
  std::vector<Constraint> constraints;
};

// Builds a space. Errors in the statements (a name given twice, an empty domain) are kept and
// returned by build().
class SpaceBuilder {
 public:
  // Adds a knob with the domain `values`, in this order; duplicates after the first are dropped.
  Expression knob(std::string name, std::string description, std::vector<Value> values);
  // Adds a knob with any value in [lower, upper] that the constraints allow. Bounds may be loose:
  // build() narrows them by the constraints.
  Expression knob_range(std::string name, std::string description, Value lower, Value upper);
  // Adds an existential variable: a configuration is legal if some value in [lower, upper]
  // satisfies the constraints.
  Expression auxiliary(std::string name, Value lower = kLoose.first, Value upper = kLoose.second);
  static constexpr std::pair<Value, Value> kLoose{-(Value{1} << 40), Value{1} << 40};

  // Adds a hard constraint. If a configuration breaks it, each "{}" in `reason` is filled with one
  // of `arguments`. Names may repeat; relax and check treat equal names alike.
  void require(std::string name, std::string reason, Expression expression,
               std::vector<Expression> arguments = {});
  // Adds a soft constraint.
  void prefer(std::string name, std::string reason, Expression expression,
              std::vector<Expression> arguments = {});

  // Negates the hard constraints called `name`: keeps configurations that break at least one of
  // them and satisfy all others. For audits just outside of a rule. False if there is no such
  // constraint.
  bool oppose(std::string_view name);

  // Narrows the domains and compiles the constraints. An unsatisfiable space is legal and empty.
  // Input errors: what was stated wrongly; a variable of another builder; a variable with more
  // than kMaximumDomain values left, which must be bounded.
  Result<Space> build(SpaceOptions options = {}) const;
  // Definition as stated so far.
  const Definition& definition() const { return definition_; }
  static constexpr std::size_t kMaximumDomain = std::size_t{1} << 20;

 private:
  Expression add(Variable variable);

  Definition definition_;
  std::optional<Error> error_;
};

}  // namespace hone::space
