// Time of each kernel inside the running program.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tune/program/build_bench.h"

namespace hone::tune {

// Seconds of all launches in a call of the program, by the kernel's name.
using SecondsByKernel = std::map<std::string, double>;

// A kernel, and its launches in a call of the program.
struct KnownKernel {
  std::string name;
  int launches = 1;
};

struct InPlaceRuns {
  int most = 1;
  // No further run begins after `seconds`, once there are `least`.
  int least = 1;
  double seconds = std::numeric_limits<double>::infinity();
};

// Returns seconds[v][r]: times of the kernels of builds[v] in run r. Every run runs all builds
// once, in turn, each in a process of its own. The runtime counts launches over all the calls that
// it makes; the launches of `known`, which all builds have, tell how many calls. A kernel that runs
// less often than once per call runs at load, and is skipped. Empty if `known` is not seen.
// `builds` are usable. Errors: those of the runtime's tools.
Result<std::vector<std::vector<SecondsByKernel>>> look_in_place(Context& context,
                                                                const BuildBench& bench,
                                                                const std::vector<BuildId>& builds,
                                                                const InPlaceRuns& runs,
                                                                const KnownKernel& known);

// Returns the median of each kernel that every run has.
SecondsByKernel medians(const std::vector<SecondsByKernel>& runs);

}  // namespace hone::tune
