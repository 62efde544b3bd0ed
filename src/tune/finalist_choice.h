// Which candidates are measured once more, by their first measurements.
#pragma once

#include <utility>
#include <vector>

#include "store/rows.h"

namespace hone::tune {

// A candidate, and its time / the default's when it was first measured.
using Measured = std::pair<double, store::Id>;

struct FinalistTime {
  double seconds = 0;          // there are for all rounds
  double default_seconds = 0;  // of one launch of the default
  bool on_gpu = false;
};

// Seconds for the finalists of a dispatch that may take `seconds` in all: a part of them, within
// bounds. A GPU, whose rounds are shorter and quieter, needs fewer.
double finalist_seconds(double seconds, bool on_gpu);

// Those of `measured` that are faster than the default and may be the fastest, best first: within a
// tenth of the best on a CPU, within 3 % on a GPU, whose first measurements are good to about a
// percent (docs/measuring.md); the best four are taken anyway, since one of them may owe its place
// to a lucky measurement. At most 10 (6 on a GPU), and no more than the time gives enough rounds
// for a verdict, but four.
std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time);

}  // namespace hone::tune
