// Sets of flags that decide which operations become one dispatch, judged by the dispatches that the
// program splits into under them: no kernel is compiled. Fused dispatches are often slow until they
// are tuned, so the time of the untuned program says little of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "tune/services/context.h"

namespace hone::tune {

// Time of a program's dispatches near the device's bounds.
struct FusionPromise {
  int launches = 0;    // of a call
  double seconds = 0;  // by operations or bytes, whichever takes longer, and by launches
};

FusionPromise promise_of(const Context& context, const problem::Program& program);

// Whether a choice takes effect whatever else is fused.
bool goes_with_fusion(const provider::FlagChoice& choice);

struct FusionSet {
  std::vector<std::size_t> choices;  // numbers
  FusionPromise promise;
  std::string dispatches;  // hash: equal for sets that make the same dispatches
  problem::Program program;
};

// Splits the program under regions and layouts (provider::Forms), each alone and together; under
// each set of at most plan::kFlagsFusedTogether of the choices that fuse, the largest sets first,
// while one of them `promises` anything; and under the best few of these with the best regions and
// layouts. Many are split at a time. `has_time` says whether another split ends within a share of
// the search's time, `to_load` gives the program under a set. Left out are sets under which it does
// not split, regions of attention that is not tunable, and of sets that make the same dispatches
// all but the smallest. Returns the others by promise, the best first. Errors: those of
// CompileService::load_programs.
Result<std::vector<FusionSet>> fusion_sets(
    Context& context, const std::vector<provider::FlagChoice>& choices,
    const std::function<trial::ProgramToCompile(const std::vector<std::size_t>& set)>& to_load,
    const std::function<bool(double share)>& has_time,
    const std::function<bool(const FusionSet&)>& promises);

}  // namespace hone::tune
