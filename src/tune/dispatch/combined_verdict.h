// Verdict on B against A over several conditions, such as sizes of an input.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "measure/comparison.h"

namespace hone::tune {

// Largest slowdown that "slower under no condition" tolerates, as a share. It is the maximum over
// the conditions of max(plan::kLeastMargin, measure::smallest_difference of its rounds).
double slower_margin(std::span<const measure::PairedComparison> comparisons);

// Returns the verdict over all comparisons. Faster: B is faster in one and slower in none. Slower:
// B is slower in one and faster in none. Otherwise no different.
// "Slower in none" means that the upper end of each interval is at most 1 + its own
// slower_margin(): a larger slowdown is excluded, not merely unseen. A single comparison keeps its
// own verdict.
measure::Verdict combined_verdict(std::span<const measure::PairedComparison> comparisons);

// Geometric mean of the ratios (time of B / time of A); needs at least one comparison.
double mean_ratio(std::span<const measure::PairedComparison> comparisons);

// Returns the B with the best mean ratio among those that are faster by combined_verdict; none if
// there is none. Only a B compared under all `conditions` counts: one that is wrong under a
// condition was not compared there.
std::optional<std::size_t> fastest_of(
    std::span<const std::vector<measure::PairedComparison>> candidates, std::size_t conditions);

}  // namespace hone::tune
