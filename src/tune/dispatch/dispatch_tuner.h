// Tunes one dispatch: baseline, search, finalists, selection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/accuracy.h"
#include "measure/comparison.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/dispatch_search.h"
#include "tune/services/context.h"

namespace hone::tune {

// A configuration that was right in every launch that was compared, and by itself takes about as
// long as the winner.
struct NearTie {
  store::Id candidate = 0;
  provider::Payload payload;
};
// Time / the winner's. Where a kernel's operands lie, and what ran before it, makes up for about as
// much: measured alone, operands are warm.
inline constexpr double kNearTie = 1.05;
inline constexpr std::size_t kMostNearTies = 2;  // each takes a compile of the whole program

// What the winner gains, by rounds that it shared with the default.
void take_speedup(store::Selection& selection, const measure::PairedComparison& comparison);

// What came of it.
struct TunedDispatch {
  bool replaces() const { return payload && !payload->replacing.empty(); }
  // Whether it is wanted however fast it is: the compiler's own choice computes something else.
  bool repairs() const { return payload && default_is_wrong; }

  const problem::Dispatch* dispatch = nullptr;
  store::Id id = 0;
  // The winner's configuration as the compiler is told it; none when the default is not beaten.
  std::optional<provider::Payload> payload;
  store::Selection selection;
  std::vector<NearTie> near_ties = {};  // the fastest first; what is faster in the program is tried
  // On a GPU, what the whole program must hold when it is compiled with the winner. Else empty.
  std::string code = {};
  bool default_is_wrong = false;  // the compiler's own choice computes something else
  // How that is launched, where it takes the place of the compiler's own kernel.
  std::optional<problem::Launch> launch = {};
  // Of that kernel, where it is known (shipped_kernels.h).
  std::optional<measure::AccuracyBeside> accuracy = {};
  SearchNote search = {};
  double seconds = 0;       // wall time of tuning it, from its first compile to the selection
  double busy_seconds = 0;  // of these a device ran kernels (trial::RunnerService::busy_seconds)

  // No configuration of its own, for this reason.
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

// The share of the session that one dispatch gets.
struct Share {
  std::size_t index = 0;  // of the dispatch among those tuned
  std::size_t count = 1;
  double seconds = 0;  // for all of it, from its first compile to the libraries beside it
  double after = 0;    // for those after it, as they are known now
  // Right candidates that are looked for even when the time of the search is over, for as long
  // again or ten seconds; fewer where the space has no more.
  std::size_t least_right = 0;
  // Candidates of one provider that are enough once so many are right, whatever time is left; 0:
  // no number is.
  std::size_t enough = 0;
};

// Seconds of a budget with which its owner expects all that matters to be looked at, and as many
// candidates of each dispatch then.
inline constexpr double kWholeSession = 600;
inline constexpr std::size_t kRightInWholeSession = 16;

// An error when the default does not compile or run, or the session was told to stop. `next`: of
// the dispatch after it, which the runners prepare meanwhile; null: none, or it would disturb.
Result<TunedDispatch> tune_dispatch(Context& context, const problem::Dispatch& dispatch,
                                    const problem::Dispatch* reference, const Share& share,
                                    const measure::ProblemRequest* next = nullptr);

}  // namespace hone::tune
