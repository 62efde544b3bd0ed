// Ask-and-tell search over a space. A strategy proposes configurations and learns their scores; it
// knows nothing of compilers or devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// Result of a proposed configuration.
struct Outcome {
  // NOLINTBEGIN(google-explicit-constructor): a score, or none, is an outcome.
  Outcome(double told) : score(told) {}
  Outcome(std::nullopt_t) {}
  Outcome(std::optional<double> told, std::string_view why = {}) : score(told), cause(why) {}
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

  virtual void tell(const space::Configuration& configuration, const Outcome& outcome) = 0;

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
// sample, mostly chosen by the prior if there is one. "local" (local_search.h) ends when more
// measurements no longer help; the other is "model" (model_search.h). The caller resolves "auto"
// (auto_choice.h). All but "exhaustive" defer members of failing families (family_filter.h). Input
// errors: another name; "prior" without a prior. `space` must outlive the strategy.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, Prior prior = {});

// Whether the strategy's proposals depend on the scores it is told.
bool learns(std::string_view name);

}  // namespace hone::search
