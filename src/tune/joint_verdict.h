// Is B faster than A, where both were compared under several conditions, such as sizes of an input?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "measure/comparison.h"

namespace hone::tune {

// Faster where B is faster in one comparison and slower in none; slower likewise; else no
// different. Of a single comparison its own verdict.
measure::Verdict joint_verdict(std::span<const measure::PairedComparison> comparisons);

// Time of B / time of A: the geometric mean of the ratios. Of at least one comparison.
double mean_ratio(std::span<const measure::PairedComparison> comparisons);

// Of several B the one that is fastest on the average, among those that were compared under all
// `conditions` (a B that is wrong under one was not) and are faster by joint_verdict; none where
// there is no such.
std::optional<std::size_t> fastest_of(
    std::span<const std::vector<measure::PairedComparison>> candidates, std::size_t conditions);

}  // namespace hone::tune
