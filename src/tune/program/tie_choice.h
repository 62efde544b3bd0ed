// Chooses in the program among configurations that are about as fast alone: first by their kernels'
// times in place, then by the whole program's.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
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

// Returns the median of each kernel that every run has.
SecondsByKernel medians(const std::vector<SecondsByKernel>& runs);

// Returns the independent compile of a dispatch; null if there is none.
using ReferenceOf = std::function<const problem::Dispatch*(const problem::Dispatch&)>;

// A near tie that is faster in the program than the winner.
struct ChosenTie {
  std::size_t entry = 0;
  std::size_t rank = 0;
  measure::PairedComparison in_place;  // its kernels beside the winner's, in a call
};

// Makes the build with these entries, under this label.
using BuildOf = std::function<Result<ProgramBuild>(const std::vector<VerifiedEntry>& entries,
                                                   std::string label)>;

class TieChoice {
 public:
  // `tuned`: what entries point to; winners in it change. `rounds`: of the whole program, enough
  // for a verdict.
  TieChoice(Context& context, BuildBench& builds, std::vector<TunedDispatch>& tuned,
            ReferenceOf reference_of, BuildOf build_of, int rounds)
      : context_(context),
        builds_(builds),
        tuned_(tuned),
        reference_of_(std::move(reference_of)),
        build_of_(std::move(build_of)),
        rounds_(rounds) {}

  // Replaces winners of `entries` by near ties whose kernels are faster in the program. All entries
  // are tried at once: a compile for each rank, however many entries there are. Then the whole
  // program with the choice is timed beside the one with the winners, `label` in the table. If it
  // is slower, every winner comes back. `winners`: the program's module with `entries`; empty if
  // unknown. Returns the module of what `entries` now say; empty if unknown. Errors: those of the
  // runtime's tools, and confirmed()'s.
  Result<std::string> choose(const std::vector<VerifiedEntry>& entries, std::string_view label,
                             std::string winners);

 private:
  Result<std::vector<ChosenTie>> faster_ones(const std::vector<VerifiedEntry>& entries,
                                             std::vector<BuildId> ids,
                                             std::vector<std::size_t> ranks);
  // Takes the near tie in all dispatches that the entry is for, or in none.
  Status take(const VerifiedEntry& entry, const ChosenTie& tie);
  Result<bool> is_slower(const std::vector<VerifiedEntry>& entries, const BuildId& winners,
                         ProgramBuild chosen);
  bool is_usable(const BuildId& id) const;

  Context& context_;
  BuildBench& builds_;
  std::vector<TunedDispatch>& tuned_;
  ReferenceOf reference_of_;
  BuildOf build_of_;
  int rounds_;
  std::size_t taken_ = 0;
};

}  // namespace hone::tune
