// What failed configurations have in common: values of two knobs.
#pragma once

#include <array>
#include <cstddef>
#include <map>

#include "space/space.h"

namespace hone::search {

// Compilers refuse by families: with `cache_m = 48` and `dist_n = 49` there is no room on the
// stack, whatever the other tiles are. A prior that likes one of them likes all.
class FailedPairs {
 public:
  // So many failures of a pair with which nothing worked are no accident.
  static constexpr std::size_t kFailures = 3;

  void tell(const space::Configuration& configuration, bool worked);
  // Whether it has a pair of values with which kFailures configurations failed, and none worked.
  bool blames(const space::Configuration& configuration) const;

 private:
  struct Told {
    std::size_t failed = 0;
    bool worked = false;
  };
  // Places of two knobs and their values.
  std::map<std::array<space::Value, 4>, Told> told_;
};

}  // namespace hone::search
