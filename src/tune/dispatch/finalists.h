// Finalists of a dispatch: its best candidates and the default. They are chosen by their first
// measurements, then measured repeatedly in other memory until they are told apart or tied. After
// each timing they are compared with the reference again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/race.h"
#include "store/rows.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

// First measurement of a candidate.
struct Measured {
  double ratio = 1;  // its time / the default's in the same rounds
  store::Id candidate = 0;
  double seconds = 0;  // of a launch; 0: not known
};

struct FinalistTime {
  double seconds = 0;            // there are for all rounds
  double default_seconds = 0;    // of one launch of the default
  bool one_batch_tells = false;  // device::Traits
  // If the default is wrong, any correct candidate wins.
  bool default_is_wrong = false;
};

// Seconds for the finalists of a dispatch that may take `seconds` in all: a share of them, within
// bounds. Smaller bounds apply where one batch tells: rounds are then shorter and quieter, and
// fewer suffice.
double finalist_seconds(double seconds, bool one_batch_tells);
// Returns how long a race that is given `seconds` takes at least.
double race_seconds(double seconds, bool one_batch_tells);

// Returns the candidates that may be the fastest, best first. With a correct default, only
// candidates faster than it count.
// Finalists are within 10 % of the best. Where one batch tells, first measurements are good to
// about 1 % (docs/measuring.md) and the limit is 3 %. The best four are taken if there is time,
// since one of them may owe its place to a lucky measurement. At most 10 are taken (6 where one
// batch tells). The time must give each enough rounds for a verdict, but four are always allowed
// (two where one batch tells).
// Where one batch does not tell, the four with the least absolute times join if there is room; two
// of them displace others if there is none. They join only if the default beside them took another
// time than beside the best. A default's time may depend on where its memory lies: 4.9 and 6.3 ms
// in two rounds of one search (docs/studies/verdicts.md). Everything measured beside it then seems
// fast or slow.
std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time);

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
