// A dispatch's statement of itself (Dispatch::statement): one contraction, several of one left
// operand, or attention, and its elementwise epilogue; or values of elements and reductions of
// rows. provider/iree/program/dispatch_statement.h makes it. It is JSON only where it leaves the
// process: in a store, and for workers of other providers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/scalar_operation.h"
#include "problem/types.h"

namespace hone::problem {

// Start of a kernel's view: `offset` bytes behind the start of its binding `binding`, plus the
// value of the launch's constants `words` (none; the low 32 bits; low and high).
struct StatedView {
  int binding = 0;
  std::int64_t offset = 0;
  std::vector<std::size_t> words;
  std::int64_t multiple = 1;  // bytes that offset and words together are a multiple of

  bool operator==(const StatedView&) const = default;
};

// Dimension of a dense tensor: its size, and the index as a sum of multiples of the loops and a
// constant.
struct StatedDimension {
  std::int64_t size = 1;
  std::vector<std::int64_t> of_loop;
  std::int64_t constant = 0;

  bool operator==(const StatedDimension&) const = default;
};

// Elements of a view over the root's loops: element `offset` + sum of stride x index.
struct StatedUse {
  std::size_t view = 0;
  ElementType type = ElementType::kF32;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;  // one for each loop
  // Only of operations before dispatches are formed (iree::ReplaceableOperation): the tensor's
  // dimensions, and whether its value is known before the program runs.
  std::vector<StatedDimension> dimensions = {};
  bool constant = false;

  bool operator==(const StatedUse&) const = default;
};

struct StatedLoop {
  LoopRole role = LoopRole::kOther;
  std::int64_t size = 1;

  bool is_reduced() const {
    return role == LoopRole::kK || role == LoopRole::kK1 || role == LoopRole::kK2;
  }
  bool operator==(const StatedLoop&) const = default;
};

// A value for each element that comes out of the root. Without a root (Kind::kElementwise), a value
// for each step of the loops.
// - A "reduce" combines its operand over all loops of role k, beginning at `constant`. It has a
//   value for each row, a step of the loops of role m.
// - Values before it are computed for each step along k. Values behind it may be of a row, or again
//   of each step along k, as in a softmax.
struct StatedValue {
  ScalarOperation operation;
  ElementType type = ElementType::kF32;
  std::vector<std::size_t> operands = {};  // values before this one
  std::size_t product = 0;                 // of a root that is one of several products
  std::string predicate = {};              // of a comparison: "olt"
  long double constant = 0;                // its 64 digits hold every i64 too
  StatedUse use = {};                      // of a load; of a table its strides and offset
  std::vector<std::uint32_t> words = {};   // all of a table, as memory of this machine has it
  ScalarOperation combines = {};           // of a reduction: "arith.addf", "arith.maximumf"

  bool operator==(const StatedValue&) const = default;
};

struct StatedStore {
  StatedUse use;
  std::size_t value = 0;

  bool operator==(const StatedStore&) const = default;
};

struct Statement {
  // kElementwise: no root and no operands. Loops have the roles m and n, or, if a value is a
  // reduction, m and k.
  enum class Kind { kContraction, kAttention, kElementwise };
  // Reason why the dispatch has another form. Only how it is launched is known then.
  std::string why_not = {};
  Kind kind = Kind::kContraction;
  std::string entry;                // of the compiler's kernel
  int bindings = 0, constants = 0;  // that it is launched with
  std::string layout = {};          // of its launch, the compiler's attribute; empty: not known
  std::string target = {};          // of its code, likewise; on a CPU only
  std::vector<StatedLoop> loops;
  // Operands: lhs and rhs of a contraction, and the rhs of each further product of that lhs, all
  // with the same strides; query, key, value and perhaps a mask of attention. The
  // mask is added to the scores, or, if of type i1, selects the scores that count by a byte's
  // lowest bit.
  std::vector<StatedUse> operands;
  double start = 0;  // that a contraction's sums begin at
  double scale = 1;  // of attention's scores
  std::vector<StatedValue> values;
  std::vector<StatedStore> stores;  // at least one
  std::vector<StatedView> views;

  bool attends() const { return kind == Kind::kAttention; }
  bool contracts() const { return kind == Kind::kContraction; }
  // Whether a value is a reduction.
  bool reduces() const;
  // Number of products of a contraction: query, key and value of one input are three.
  std::size_t products() const { return operands.empty() ? 0 : operands.size() - 1; }
  // Number of steps of all loops of a role together.
  std::int64_t steps(LoopRole role) const;

  bool operator==(const Statement&) const = default;
};

// Largest power of two, at most `most`, of an operand's elements that lie side by side and begin at
// a multiple of their number wherever the loops stand; 1 if each has to be loaded by itself. Taps
// of a filter along an image's rows begin anywhere.
std::int64_t loaded_at_once(const Statement& statement, const StatedUse& operand,
                            std::int64_t most);

// Returns the statement. Input error if nobody has stated the dispatch, or if it has another form.
Result<const Statement*> stated(const std::optional<Statement>& statement);

// Serialises a statement for a process border or a store; an empty text if there is none.
std::string statement_text(const std::optional<Statement>& statement);
// Reads such a text. One that cannot be read, since a store may come from anybody, gives a
// statement that says so (Statement::why_not).
std::optional<Statement> statement_from(std::string_view text);
// Does both: statement_from() and stated().
Result<Statement> read_statement(std::string_view text);

// from_json throws nlohmann's exceptions for JSON that is malformed or does not hold together.
void to_json(nlohmann::json& json, const Statement& statement);
void from_json(const nlohmann::json& json, Statement& statement);

}  // namespace hone::problem
