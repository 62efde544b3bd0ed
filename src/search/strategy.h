// Ask-and-tell search over a space. A strategy proposes configurations and learns their scores; it
// knows nothing of compilers or devices. Families of configurations that fail are deferred for any
// strategy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::search {

// Estimates a configuration's score before it is measured; only the order counts. NaN means no
// estimate: such configurations come last.
using Prior = std::function<double(const space::Configuration&)>;

// Names that users may ask for: "auto", and the strategies of make_strategy().
inline constexpr std::string_view kStrategyNames[] = {"auto",  "exhaustive", "local",
                                                      "model", "prior",      "random"};

// Result of a proposed configuration, as its strategy is told.
struct Feedback {
  // NOLINTBEGIN(google-explicit-constructor): a score, or none, is feedback.
  Feedback(double told) : score(told) {}
  Feedback(std::nullopt_t) {}
  Feedback(std::optional<double> told, std::string_view why = {}) : score(told), cause(why) {}
  // NOLINTEND(google-explicit-constructor)

  std::optional<double>
      score{};          // lower is better (seconds, or a ratio to a baseline); none: failed
  std::string cause{};  // why it failed: equal for failures of one kind
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual std::string_view name() const = 0;

  // At most `count` configurations that were not proposed before; fewer, and at last none, when
  // the space is exhausted.
  virtual std::vector<space::Configuration> ask(std::size_t count) = 0;

  virtual void tell(const space::Configuration& configuration, const Feedback& feedback) = 0;

  // Sets the noise of the told scores, as their relative standard deviation: the apparent best may
  // owe its place to noise. Called again as the estimate improves.
  virtual void note_noise(double) {}

  // Relative improvement on the best so far that the 16 most promising measurements should bring,
  // as of the last ask(). nullopt if the strategy has no estimate. The best counts as slower than
  // measured, by the noise.
  virtual std::optional<double> expected_gain() const { return std::nullopt; }
};

// "exhaustive" proposes the whole space in its enumeration order, "random" in an order drawn
// uniformly with `seed`, "prior" in ascending order of `prior`. Learning strategies begin with a
// sample, mostly chosen by the prior if there is one. "local" ends when more measurements no longer
// help; the other is "model" (learning_search.h for both). The caller resolves "auto"
// (choose_strategy()). All but "exhaustive" defer members of failing families (FamilyFilter).
// Input errors: another name; "prior" without a prior. `space` must outlive the strategy.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, Prior prior = {});

// Whether the strategy's proposals depend on the scores it is told.
bool learns(std::string_view name);

// Facts that decide which strategy suits a search.
struct Situation {
  space::Count count;          // of the space
  std::size_t candidates = 0;  // that may be tried, by what the user allows and the time
  bool has_prior = false;
  // Proposals compile while earlier ones are measured, so many are proposed before any score is
  // known.
  bool compiles_ahead = false;
};

struct StrategyChoice {
  std::string_view strategy;
  std::string why;  // "600 configurations, of which about 900 can be tried"
};

// "exhaustive" for a space of at most kTryAll configurations that can all be tried. "prior" (or
// "random" without a prior) if fewer can be tried than a model's first sample. "local" if proposals
// compile ahead, else "model". docs/search.md has the reasons.
inline constexpr std::uint64_t kTryAll = 32;
StrategyChoice choose_strategy(const Situation& situation);

// Stops a search when 16 more measurements are expected to gain (Strategy::expected_gain) less than
// the finalists' comparison can detect. This must hold in kPatience consecutive rounds, and kFewest
// configurations must have been tried. A strategy without an estimate is never stopped.
//
// A noisy machine needs more measurements, not fewer. The finalists' rounds outnumber those that
// the noise estimate assumes, and still detect kMost: a gain above kMost is always worth a try.
class StopRule {
 public:
  static constexpr std::size_t kFewest = 24;
  static constexpr int kPatience = 2;
  static constexpr double kMost = 0.01;  // the band of a tie (measure/race.h)

  // `noise`: the smallest relative difference that can be detected.
  explicit StopRule(double noise) : noise_(std::min(noise, kMost)) {}

  // Call it once before each round, with the number of configurations tried so far.
  bool stops(std::size_t tried, std::optional<double> expected_gain);
  // "expected gain 0.4 % below noise 0.9 %", once it stops.
  std::string reason() const;

 private:
  double noise_;
  int rounds_ = 0;  // below the noise, one after the other
  double gain_ = 0;
};

// Families of configurations that fail for the same cause.
// Compilers reject whole families: with `cache_m = 48` and `dist_n = 49` there is no room on the
// stack, whatever the other tiles are. A family is a property that kFailures configurations which
// failed for one cause share, and that no working configuration has:
// - a knob's value (a pipeline, say) that all failures of this cause have;
// - values of two knobs that kFailures of this cause have;
// - a size, of one knob, or as a product of two or of all, from the smallest failure of this cause
//   upwards. It counts if at least kFailures configurations worked, all of them smaller.
class FailedFamilies {
 public:
  // Failures that are too many for an accident.
  static constexpr std::size_t kFailures = 3;

  void tell_worked(const space::Configuration& configuration);
  // `cause`: equal for failures of one kind; may be empty.
  void tell_failed(const space::Configuration& configuration, std::string_view cause);
  // Number of families that the configuration belongs to; 0: no known reason to fail.
  std::size_t count(const space::Configuration& configuration) const;

 private:
  using KnobValue = std::pair<std::size_t, space::Value>;  // place of a knob, its value
  using Pair = std::array<space::Value, 4>;                // of two knobs
  struct Cause {
    std::size_t failed = 0;
    std::set<KnobValue> common = {};  // of all that failed
    std::map<Pair, std::size_t> pairs = {};
    std::vector<double> least_sizes = {};
  };

  std::size_t worked_ = 0;
  std::set<KnobValue> worked_values_;
  std::set<Pair> worked_pairs_;
  std::vector<double> largest_sizes_;  // of those that worked
  std::map<std::string, Cause, std::less<>> causes_;
};

// Passes on the proposals of `strategy`, except members of a failing family.
// These are deferred until a member of the family works. If the strategy proposes nothing else, the
// members of the fewest failing families come first. A learning strategy (learns()) that ends by
// itself after a success leaves the deferred ones untried.
class FamilyFilter final : public Strategy {
 public:
  // Proposals examined in one ask() to find one outside failing families.
  static constexpr std::size_t kLookedAt = 1024;
  // Likewise for a learning strategy, which does not propose deferred configurations again.
  static constexpr std::size_t kLookedAtWhileLearning = 64;

  // A strategy that predicts failures itself once something works needs no filter from then on.
  enum class Until { kEnd, kFirstSuccess };

  explicit FamilyFilter(std::unique_ptr<Strategy> strategy, Until until = Until::kEnd)
      : strategy_(std::move(strategy)), until_(until) {}

  std::string_view name() const override { return strategy_->name(); }
  std::vector<space::Configuration> ask(std::size_t count) override;
  void tell(const space::Configuration& configuration, const Feedback& feedback) override;
  void note_noise(double share) override { strategy_->note_noise(share); }
  std::optional<double> expected_gain() const override { return strategy_->expected_gain(); }

 private:
  // Moves up to `count` deferred configurations of at most `families` failing families to
  // `proposals`.
  void take_put_off(std::size_t count, std::size_t families,
                    std::vector<space::Configuration>& proposals);

  bool is_over() const { return worked_ && until_ == Until::kFirstSuccess; }

  std::unique_ptr<Strategy> strategy_;
  Until until_;
  FailedFamilies failed_;
  std::deque<space::Configuration> put_off_;  // in the strategy's order
  bool worked_ = false;
};

}  // namespace hone::search
