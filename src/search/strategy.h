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

// What a configuration's score is expected to be, before it is measured; only the order counts. Not
// a number is no estimate: such configurations come last.
using Prior = std::function<double(const space::Configuration&)>;

// What users may ask for: "auto", and what make_strategy() knows.
inline constexpr std::string_view kStrategyNames[] = {"auto",  "exhaustive", "local",
                                                      "model", "prior",      "random"};

// What became of a proposed configuration.
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

  // Scores are told as they were measured, with this standard deviation, as a share: what seems the
  // best may owe its place to it. Told again as more is known.
  virtual void note_noise(double) {}

  // By how much, as a share, the 16 most promising measurements are expected to improve on the best
  // so far, as of the last ask(); nothing where the strategy has no idea. The best counts as slower
  // than it was measured by the noise.
  virtual std::optional<double> expected_gain() const { return std::nullopt; }
};

// "exhaustive" proposes the whole space in its enumeration order, "random" in an order drawn
// uniformly with `seed`, "prior" what `prior` expects to be best first. Those that learn begin with
// a sample, which with a prior is mostly its choice: "local" (local_search.h), which ends when more
// no longer helps, and "model" (model_search.h). "auto" is for the caller to resolve
// (auto_choice.h). All but "exhaustive" put off what belongs to a family that fails
// (family_filter.h). Input errors: another name; "prior" without one.
// `space` must outlive the strategy.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, Prior prior = {});

// Whether what that strategy proposes depends on what it is told.
bool learns(std::string_view name);

}  // namespace hone::search
