// The configurations that ship, chosen in the program among those that are about as fast by
// themselves: by their kernels' times there first, and then by the whole program's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/program/build_bench.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {

// This part of the tuning's budget goes into compiling the program with near ties, and as much
// again into running it. A program that takes longer has one compile and the fewest runs.
inline constexpr double kNearTieShare = 0.1;

// The independent compile of a dispatch; none where there is none.
using ReferenceOf = std::function<const problem::Dispatch*(const problem::Dispatch&)>;

// One that is faster in the program than the winner is there.
struct ChosenTie {
  std::size_t entry = 0;
  std::size_t rank = 0;
  measure::PairedComparison in_place;  // its kernels beside the winner's, in a call
};

// The program with these entries, under this label.
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

  // Lets near ties take the place of winners of `entries` where their kernels are faster in the
  // program, with all of them at once: a compile for each rank, however many entries there are.
  // Then the whole program with what was chosen is timed beside the one with the winners, `label`
  // in the table, and where it is slower every winner gets its place back. `winners`: the program's
  // module with `entries`, if it is known. Returns that with what `entries` now say, if it is
  // known. Errors: those of the runtime's tools, and confirmed()'s.
  Result<std::string> choose(const std::vector<VerifiedEntry>& entries, std::string_view label,
                             std::string winners);

 private:
  Result<std::vector<ChosenTie>> faster_ones(const std::vector<VerifiedEntry>& entries,
                                             std::vector<BuildId> ids,
                                             std::vector<std::size_t> ranks);
  // In all dispatches that the entry is for, or in none.
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
