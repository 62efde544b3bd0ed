// Ask-and-tell search over a space. A strategy proposes configurations and learns their scores; it
// knows nothing of compilers or devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::search {

// What a configuration's score is expected to be, before it is measured; only the order counts. Not
// a number is no estimate: such configurations come last.
using Prior = std::function<double(const space::Configuration&)>;

// What make_strategy knows, for help and completion.
inline constexpr std::string_view kStrategyNames[] = {"local", "random", "exhaustive", "prior"};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual std::string_view name() const = 0;

  // At most `count` configurations that were not proposed before; fewer, and at last none, when
  // the space is exhausted.
  virtual std::vector<space::Configuration> ask(std::size_t count) = 0;

  // The score of a proposed configuration: lower is better (seconds, or a ratio to a baseline);
  // nothing when it failed.
  virtual void tell(const space::Configuration& configuration, std::optional<double> score) = 0;
};

// "exhaustive" proposes the whole space in its enumeration order, "random" in an order drawn
// uniformly with `seed`, "local" refines the best of a sample (local_search.h) and ends when that
// no longer helps, "prior" proposes what `prior` expects to be best first. With a prior the sample
// of "local" is mostly its choice. Input errors: another name; "prior" without one. `space` must
// outlive the strategy.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, Prior prior = {});

}  // namespace hone::search
