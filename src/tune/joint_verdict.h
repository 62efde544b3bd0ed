// Is B faster than A, where both were compared under several conditions, such as sizes of an input?
#pragma once

#include <span>

#include "measure/comparison.h"

namespace hone::tune {

// Faster where B is faster in one comparison and slower in none; slower likewise; else no
// different. Of a single comparison its own verdict.
measure::Verdict joint_verdict(std::span<const measure::PairedComparison> comparisons);

// Time of B / time of A: the geometric mean of the ratios. Of at least one comparison.
double mean_ratio(std::span<const measure::PairedComparison> comparisons);

}  // namespace hone::tune
