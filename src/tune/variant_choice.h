// Which way to build a whole program is recommended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::tune {

// A way that runs and gives the default's outputs.
struct RightVariant {
  std::string name;                // "default", "data tiling", "spec"
  std::vector<std::string> flags;  // beyond the session's
  bool uses_spec = false;
  std::vector<double> seconds;  // per call, by round; variants of one program share their rounds
};

// `at_sizes`: the variants of the program at each of several sizes, or at the one it has, in order
// of what they ask of the user, the default first. A later one is chosen only where it is reliably
// faster (joint_verdict), so a flag or a spec that does nothing is never recommended. Only those
// that are there at every size take part. Nothing where there is none.
Result<std::optional<RightVariant>> choose_variant(
    const std::vector<std::vector<RightVariant>>& at_sizes);

}  // namespace hone::tune
