// Is B faster than A, where both were compared under several conditions, such as sizes of an input?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "measure/comparison.h"

namespace hone::tune {

// Differences below this share are not counted as slower under one condition of several.
inline constexpr double kLeastMargin = 0.02;

// What "slower under no condition" means: by no more than this share, the largest over the
// conditions of max(kLeastMargin, what its rounds resolve: measure::smallest_difference).
double slower_margin(std::span<const measure::PairedComparison> comparisons);

// Faster where B is faster in one comparison and slower in none; slower where it is slower in one
// and faster in none; else no different. In none slower: of each the interval's upper end is at
// most slower_margin() of it above 1, so that a larger slowdown is excluded, not merely unseen. Of
// a single comparison its own verdict.
measure::Verdict combined_verdict(std::span<const measure::PairedComparison> comparisons);

// Time of B / time of A: the geometric mean of the ratios. Of at least one comparison.
double mean_ratio(std::span<const measure::PairedComparison> comparisons);

// Returns which of several B is fastest on the average, among those that were compared under all
// `conditions` (a B that is wrong under one was not) and are faster by combined_verdict; none when
// there is no such B.
std::optional<std::size_t> fastest_of(
    std::span<const std::vector<measure::PairedComparison>> candidates, std::size_t conditions);

}  // namespace hone::tune
