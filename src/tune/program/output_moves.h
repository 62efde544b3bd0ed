// How far the outputs of a program move when its arguments are off by rounding: the condition of
// each element, measured. A logarithm near one, a difference of like numbers or a rounding to
// integers moves far, and two right compiles differ most there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::tune {

// Runs one compile of a program on the arguments in these files; its results.
using RunOnFiles = std::function<Result<std::vector<problem::Array>>(
    const std::vector<std::filesystem::path>& inputs)>;

// By result and element: the largest |f(nudged) - f(x)| that was seen; infinite where only one of
// the two is a number.
using OutputMoves = std::vector<std::vector<double>>;

// `array` with each real off by about so much as rounding makes of it on its way through a program:
// 2^-18 of it in f32 (64 units in the last place), one unit in the last place in f16 and bf16.
// Neighbours, runs of 64 and the whole array each move together by a part of it, since errors of
// sums do not average out. Nothing where the array holds no such reals.
std::optional<problem::Array> nudged(const problem::Array& array, std::uint64_t seed);

// Runs the program on three draws of nudged arguments. `expected`: its results for `inputs`.
// `folder`: for the files. Nothing where no argument can be nudged, or the program fails on one of
// them. An interruption is an error.
Result<std::optional<OutputMoves>> moves_of(const std::vector<std::filesystem::path>& inputs,
                                            const std::vector<problem::Array>& expected,
                                            const std::filesystem::path& folder, std::uint64_t seed,
                                            const RunOnFiles& run);

// Compares as measure::compare does, with more allowed where elements move: four times as far
// as the element was seen to move. Elements beyond that are right together where the largest of
// their errors is no larger than four times the largest move of any, the second largest than that
// of the second, and so on: three draws do not find all of the elements that may jump. Integers
// and booleans are allowed what they move, once.
Result<measure::Comparison> compare_with_moves(const problem::Array& got,
                                               const problem::Array& expected,
                                               const measure::Tolerance& tolerance,
                                               const std::vector<double>& moves);

}  // namespace hone::tune
