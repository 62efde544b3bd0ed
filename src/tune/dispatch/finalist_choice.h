// Which candidates are measured once more, by their first measurements.
#pragma once

#include <vector>

#include "store/rows.h"

namespace hone::tune {

// A candidate when it was first measured.
struct Measured {
  double ratio = 1;  // its time / the default's in the same rounds
  store::Id candidate = 0;
  double seconds = 0;  // of a launch; 0: not known
};

struct FinalistTime {
  double seconds = 0;            // there are for all rounds
  double default_seconds = 0;    // of one launch of the default
  bool one_batch_tells = false;  // device::Traits
  // Who is right is a gain over it, however fast it is.
  bool default_is_wrong = false;
};

// Seconds for the finalists of a dispatch that may take `seconds` in all: a part of them, within
// bounds. Where one batch tells, rounds are shorter and quieter, and fewer serve.
double finalist_seconds(double seconds, bool one_batch_tells);

// Those of `measured` that are faster than a right default and may be the fastest, best first:
// within a tenth of the best, or where one batch tells, so that first measurements are good to
// about a percent (docs/measuring.md), within 3 %; the best four are taken anyway, since one of
// them may owe its place to a lucky measurement. At most 10 (6 where one batch tells), and no more
// than the time gives enough rounds for a verdict, but four. Where one batch does not tell, the
// four with the least times of their own are among them as far as there is room, two of them in any
// case, if the default beside them took another time than beside the best: a default whose time
// depends on where its memory lies (4.9 and 6.3 ms in two rounds of one search; see
// docs/studies/verdicts.md) makes all that was measured beside it seem fast or slow.
std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time);

}  // namespace hone::tune
