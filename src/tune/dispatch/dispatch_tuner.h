// Tunes one dispatch: baseline, search, finalists, selection.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/accuracy.h"
#include "measure/comparison.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/dispatch_search.h"
#include "tune/services/context.h"

namespace hone::tune {

// Configuration about as fast as the winner when measured alone, and correct in every launch
// compared.
struct NearTie {
  store::Id candidate = 0;
  provider::Payload payload;
};

// Sets the selection's speedup from rounds shared with the default.
void take_speedup(store::SelectionRow& selection, const measure::PairedComparison& comparison);

// Result of tuning a dispatch.
struct TunedDispatch {
  bool replaces() const { return payload && !payload->replacing.empty(); }
  // Whether the winner replaces a wrong default, which makes it wanted at any speed.
  bool repairs() const { return payload && default_is_wrong; }

  const problem::Dispatch* dispatch = nullptr;
  store::Id id = 0;
  // Payload of the winner; none if the default is not beaten.
  std::optional<provider::Payload> payload;
  store::SelectionRow selection;
  std::vector<NearTie> near_ties = {};  // the fastest first; what is faster in the program is tried
  // Code that the program compiled with the winner must contain (GPU only); else empty.
  std::string code = {};
  bool default_is_wrong = false;  // the compiler's own choice computes something else
  // Launch of that code, if it replaces the compiler's kernel.
  std::optional<problem::Launch> launch = {};
  // Accuracy of that kernel, where known (shipped_kernels.h).
  std::optional<measure::AccuracyBeside> accuracy = {};
  SearchNote search = {};
  double seconds = 0;       // wall time of tuning it, from its first compile to the selection
  double busy_seconds = 0;  // of these a device ran kernels (trial::RunnerService::busy_seconds)

  // Resets to the default, for this reason.
  void keep_default(std::string reason) {
    payload.reset();
    near_ties.clear();
    code.clear();
    launch.reset();
    accuracy.reset();
    selection = {};
    selection.reason = std::move(reason);
  }
};

// A dispatch whose default and first candidates may compile before its turn comes.
class DispatchTuner;
using BegunDispatch = std::shared_ptr<DispatchTuner>;

// Begins with a dispatch. `contenders`: contenders_for() it. `share`: as far as it is known. A
// failure if the compiler refuses the dispatch or it cannot be verified.
Result<BegunDispatch> begin_dispatch(Context& context, const problem::Dispatch& dispatch,
                                     const problem::Dispatch* reference,
                                     std::deque<Contender> contenders, const Share& share);
// Ends one that is not tuned after all.
Status abandon(const BegunDispatch& begun);

// Time and surroundings of a dispatch when its turn comes.
struct Turn {
  Share share;
  const problem::Dispatch* reference = nullptr;  // source and flags of an independent compile
  BegunDispatch begun = {};                      // null: it begins now
  // Problems of the next dispatches, which the runners prefetch; none where that would disturb.
  std::vector<const measure::ProblemRequest*> next = {};
  // Called when the search is over: the compile workers have time for others. May be empty.
  std::function<Status()> after_search = {};
};

// Tunes one dispatch. An error if the default does not compile or run, or the session was told to
// stop.
Result<TunedDispatch> tune_dispatch(Context& context, const problem::Dispatch& dispatch,
                                    const Turn& turn);

}  // namespace hone::tune
