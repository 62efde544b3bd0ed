// Chooses the candidates to measure again by their first measurements.
#pragma once

#include <vector>

#include "store/rows.h"

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

// Returns the candidates that may be the fastest, best first. With a correct default, only
// candidates faster than it count.
// Finalists are within 10 % of the best. Where one batch tells, first measurements are good to
// about 1 % (docs/measuring.md) and the limit is 3 %. The best four are always taken, since one of
// them may owe its place to a lucky measurement. At most 10 are taken (6 where one batch tells).
// The time must give each enough rounds for a verdict, but four are always allowed.
// Where one batch does not tell, the four with the least absolute times join if there is room; two
// of them displace others if there is none. They join only if the default beside them took another
// time than beside the best. A default's time may depend on where its memory lies: 4.9 and 6.3 ms
// in two rounds of one search (docs/studies/verdicts.md). Everything measured beside it then seems
// fast or slow.
std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time);

}  // namespace hone::tune
