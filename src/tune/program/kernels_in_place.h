// What each kernel of a whole program takes while the program runs.
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
  // After so many seconds no further run is begun, once there are `least`.
  int least = 1;
  double seconds = std::numeric_limits<double>::infinity();
};

// seconds[v][r]: of the kernels of builds[v] in run r; all builds run once in every run, in
// turn, each in a process of its own. The runtime counts the launches of as many calls as it made;
// how many these were, those of `known` tell, which all builds have: what runs less often than
// once in a call runs at load, and is left out. Empty where that kernel is not seen. `builds` are
// usable. Errors: those of the runtime's tools.
Result<std::vector<std::vector<SecondsByKernel>>> look_in_place(Context& context,
                                                                const BuildBench& bench,
                                                                const std::vector<BuildId>& builds,
                                                                const InPlaceRuns& runs,
                                                                const KnownKernel& known);

// By kernel, of those that every run has.
SecondsByKernel medians(const std::vector<SecondsByKernel>& runs);

}  // namespace hone::tune
