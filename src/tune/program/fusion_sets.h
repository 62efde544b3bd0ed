// Sets of flags that decide which operations become one dispatch, judged by the dispatches that the
// program splits into under them: no kernel is compiled. Fused dispatches are often slow until they
// are tuned, so the time of the untuned program says little of them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/policy.h"
#include "problem/dispatch.h"
#include "tune/services/context.h"
#include "tune/services/load_program.h"

namespace hone::tune {

// Time of a program's dispatches near the device's bounds.
struct FusionPromise {
  int launches = 0;    // of a call
  double seconds = 0;  // by operations or bytes, whichever takes longer, and by launches
};

FusionPromise promise_of(const Context& context, const problem::Program& program);

// Flags of the choices of these numbers, in their order.
std::vector<std::string> flags_of(const std::vector<provider::FlagChoice>& choices,
                                  const std::vector<std::size_t>& set);

struct FusionSet {
  std::vector<std::size_t> choices;  // numbers
  FusionPromise promise;
  std::string dispatches;  // hash: equal for sets that make the same dispatches
  problem::Program program;
};

// Splits to run side by side: long ones, and those beside the first compile and split of the
// program, take each other's cores and memory.
std::size_t splits_at_once(const Context& context, bool crowded);

// Judges the choices of one program. What it is made of must outlive it.
class FusionJudge {
 public:
  // `at_once`: splits that run side by side, at least one.
  FusionJudge(Context& context, const problem::Program& program, const std::string& bytes,
              const problem::GivenSizes& given, const std::vector<provider::FlagChoice>& choices,
              std::size_t at_once);

  // Promise of the program under no choice.
  const FusionPromise& as_it_is() const { return as_it_is_; }

  // Begins the first splits of sets_that_promise() in the background, if there is time for them,
  // and that of the likeliest set's reference. What has begun is not begun again.
  void begin_to_split(const std::function<bool(double share)>& has_time);

  // Splits the program under regions and layouts (provider::DispatchChange), together and each
  // alone; under both together with each of the largest sets of at most plan::kFlagsFusedTogether
  // of the choices that fuse; under these sets alone; and under smaller ones while one of them
  // promises enough. If fewer regions and layouts promise more, they are tried with the best few
  // sets too. Many are split at a time. `has_time` says whether another split ends within a share
  // of the search's time. Left out are sets under which it does not split, regions of attention
  // that is not tunable, and of sets that make the same dispatches all but the smallest. Returns
  // the others that promise at most plan::kFusedMayWin of the program's time, the best first.
  // Errors: those of CompileService::load_programs.
  Result<std::vector<FusionSet>> sets_that_promise(
      const std::function<bool(double share)>& has_time);
  // Makes the split of a set, and its reference, ready for those who tune its dispatches.
  void begin_to_load(FusionSet& set);

 private:
  using Choices = std::vector<std::size_t>;  // numbers

  ProgramsToLoad programs_with(const Choices& set) const;
  bool keeps_splits() const;
  trial::ProgramToCompile program_to_split(const Choices& set) const;
  double share_for_first() const {
    return others_.empty() ? plan::kFusionShare : plan::kLayoutShare;
  }
  bool has_region(const Choices& set) const;
  bool promises_enough(const FusionSet& set) const;
  Result<std::vector<FusionSet>> split(std::span<const Choices> sets);

  Context& context_;
  const std::string& bytes_;
  const problem::GivenSizes& given_;
  const std::vector<provider::FlagChoice>& choices_;
  std::size_t at_once_;
  FusionPromise as_it_is_;
  Choices others_;     // regions and layouts: they take effect whatever else is fused
  Choices likeliest_;  // these with the first of the largest fused sets, if there are any
  std::vector<Choices> first_;
  std::vector<Choices> small_fused_;  // split if large fused sets promise much
};

}  // namespace hone::tune
