// Ask-and-tell search over a space. A strategy proposes configurations and learns their scores; it
// knows nothing of compilers or devices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::search {

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
// uniformly with `seed`, "local" refines the best of a random sample (local_search.h) and ends when
// that no longer helps. An input error for another name. `space` must outlive the strategy.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed);

}  // namespace hone::search
