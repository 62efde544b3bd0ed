// Chooses in the program among configurations that are about as fast alone: first by their kernels'
// times in place, then by the whole program's.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tune/program/build_bench.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {

// Seconds of all launches in a call of the running program, by the kernel's name.
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

// Returns the independent compile of a dispatch; null if there is none.
using ReferenceOf = std::function<const problem::Dispatch*(const problem::Dispatch&)>;

// Makes the build with these entries, under this label.
using BuildOf = std::function<Result<ProgramBuild>(const std::vector<VerifiedEntry>& entries,
                                                   std::string label)>;

struct TieRequest {
  std::vector<TunedDispatch>& tuned;          // what entries point to; winners in it change
  const std::vector<VerifiedEntry>& entries;  // whose winners may be replaced
  std::string label;                          // of their build, in the table
  std::string winners;  // the program's module with `entries`; empty if unknown
  ReferenceOf reference_of;
  BuildOf build_of;
};

// Replaces winners by near ties whose kernels are faster in the program. All entries are tried at
// once: a compile for each rank, however many entries there are. Then the whole program with the
// choice is timed beside the one with the winners. If it is slower, every winner comes back.
// Returns the module of what the entries now say; empty if unknown. Errors: those of the runtime's
// tools, and of tune_dispatch().
Result<std::string> choose_among_ties(Context& context, BuildBench& builds,
                                      const TieRequest& request);

}  // namespace hone::tune
