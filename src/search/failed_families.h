// Families of configurations that fail for the same cause.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "space/space.h"

namespace hone::search {

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

}  // namespace hone::search
