// Moves of a program's outputs when its arguments are off by rounding: the condition of each
// element, measured. A logarithm near one, a difference of like numbers or a rounding to integers
// moves far, and two correct compiles differ most there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::tune {

// Runs one compile of a program on the arguments in these files, and returns its results.
using RunOnFiles = std::function<Result<std::vector<problem::Array>>(
    const std::vector<std::filesystem::path>& inputs)>;

// Largest |f(nudged) - f(x)| that was seen, by result and element; infinite if only one of the two
// is a number.
using OutputMoves = std::vector<std::vector<double>>;

// Returns `array` with each real off by about the rounding error of a way through a program: 2^-18
// of it in f32 (64 units in the last place), one unit in the last place in f16 and bf16. A third of
// the nudge is common to the whole array, a third to runs of 64, and a third is the element's own:
// errors of sums do not average out. None if the array holds no such reals.
std::optional<problem::Array> nudged(const problem::Array& array, std::uint64_t seed);

// Runs the program on three draws of nudged arguments. `expected`: its results for `inputs`.
// `folder`: for the files. None if no argument can be nudged, or the program fails on a draw. An
// interruption is an error.
Result<std::optional<OutputMoves>> moves_of(const std::vector<std::filesystem::path>& inputs,
                                            const std::vector<problem::Array>& expected,
                                            const std::filesystem::path& folder, std::uint64_t seed,
                                            const RunOnFiles& run);

// Compares as measure::compare does, and allows each element four times its measured move. Elements
// beyond that are judged together, by rank, since three draws do not find all elements that may
// jump. The largest error may be four times the largest move of any element, the second largest
// four times the second, and so on. Integers and booleans are allowed their move once.
Result<measure::Comparison> compare_with_moves(const problem::Array& got,
                                               const problem::Array& expected,
                                               const measure::Tolerance& tolerance,
                                               const std::vector<double>& moves);

}  // namespace hone::tune
