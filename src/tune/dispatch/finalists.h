// Races the finalists of a dispatch: its best candidates and the default. They are measured
// repeatedly in other memory until they are told apart or tied. After each timing they are compared
// with the reference again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/race.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

struct Finalist {
  store::Id candidate = 0;
  std::string name;  // decides among those that are tied
};

struct FinalistRounds {
  // Finalists that were correct in every launch compared, in the order given; columns of `race`.
  std::vector<store::Id> candidates;
  // Each round loads the code anew and moves the buffers, and so samples their placement. Placement
  // makes a kernel up to several percent faster or slower (Mytkowicz et al., Producing wrong data
  // without doing anything obviously wrong, ASPLOS 2009).
  measure::Race race{1};
  // Winning column; none when no candidate is left.
  std::optional<measure::Race::Winner> winner;
};

// Races the finalists (race.h) for about `seconds`, but at least for the fewest rounds that allow a
// verdict. If these take more than twice the time, only the fastest so far goes on beside the
// default. `progress` gets the seconds left. Every sample is recorded.
//
// Each finalist of a round is launched once more and compared with the reference. The winner must
// be correct in kComparedLaunches launches, or as many as half of `seconds` allows; the event
// "compared" has the number. A finalist that is wrong, or repeatedly measured above the device's
// arithmetic peak, is recorded as failed. The others race anew, since it may be what they were
// found slower than.
//
// A failure when a finalist no longer loads or runs.
Result<FinalistRounds> race_finalists(Context& context, DispatchBench& bench,
                                      const std::vector<Finalist>& finalists, double seconds,
                                      const std::function<void(double)>& progress);

// Measures as race_finalists() does, but runs all to the end and compares each as thoroughly as a
// winner. `winner` is none.
Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress);

}  // namespace hone::tune
