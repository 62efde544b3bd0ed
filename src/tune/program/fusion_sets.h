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

struct FusionSet {
  std::vector<std::size_t> choices;  // numbers, ascending
  FusionPromise promise;
  std::string dispatches;  // hash: equal for sets that make the same dispatches
  problem::Program program;
};

// Splits the program under each set of at most plan::kFlagsFusedTogether of the choices that fuse
// (provider::FlagChoice::fuses), many at a time and the largest sets first, while one of them
// `promises` anything. Then regions (FlagChoice::is_region) alone and with the best few of them, if
// the attention that they form is tunable. `has_time` says whether another split ends within a
// share of the search's time, `to_load` gives the program under a set. Sets under which it does not
// split are left out, and of sets that make the same dispatches all but the smallest. Returns the
// others by promise, the best first. Errors: those of CompileService::load_programs.
Result<std::vector<FusionSet>> fusion_sets(
    Context& context, const std::vector<provider::FlagChoice>& choices,
    const std::function<trial::ProgramToCompile(const std::vector<std::size_t>& set)>& to_load,
    const std::function<bool(double share)>& has_time,
    const std::function<bool(const FusionSet&)>& promises);

}  // namespace hone::tune
