// The finalists of a dispatch: its best candidates and the default, measured again and again in
// other memory, until they are told apart or a tie is known, and compared with the reference again
// after each time that they were timed.
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
  // Those that were right in every launch that was compared, in the order given; columns of `race`.
  std::vector<store::Id> candidates;
  // Every round loads the code anew and moves the buffers, since where both happen to lie makes a
  // kernel up to several percent faster or slower (Mytkowicz et al., Producing wrong data without
  // doing anything obviously wrong, ASPLOS 2009): a round is one sample of that too.
  measure::Race race{1};
  // A column; none when no candidate is left.
  std::optional<measure::Race::Winner> winner;
};

// Races the finalists (race.h) for about `seconds`, and takes the fewest rounds that allow a
// verdict in any case, unless these take longer than twice as long: then only the one that is
// fastest until now goes on beside the default. `progress` is told the seconds left. Every sample
// is recorded.
//
// After each round every finalist that ran is launched once more and compared with the reference;
// before one is the winner, kComparedLaunches in all were right, or as many as half of `seconds`
// allows: the event "compared" says how many. One that is wrong, or that is measured above the
// device's arithmetic peak again and again, is recorded as a failed candidate, and the others race
// anew, since it may have been what they were found slower than.
//
// A failure when a finalist no longer loads or runs.
Result<FinalistRounds> race_finalists(Context& context, DispatchBench& bench,
                                      const std::vector<Finalist>& finalists, double seconds,
                                      const std::function<void(double)>& progress);

// Measures as race_finalists() does, but runs all to the end and compares each as a winner is
// compared: `winner` is none.
Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress);

}  // namespace hone::tune
