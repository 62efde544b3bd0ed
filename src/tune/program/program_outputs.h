// Tests whether two compiles of a whole program compute the same. The tolerances follow from the
// types and values of the results; effects of the computation are measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/array_difference.h"
#include "measure/verification.h"
#include "problem/dispatch.h"
#include "problem/npy.h"

namespace hone::tune {

// Runs one compile of a program on the arguments in these files, and returns its results.
using RunOnFiles = std::function<Result<std::vector<problem::Array>>(
    const std::vector<std::filesystem::path>& inputs)>;

// Moves of a program's outputs when its arguments are off by rounding: the condition of each
// element, measured. A logarithm near one, a difference of like numbers or a rounding to integers
// moves far, and two correct compiles differ most there. Largest |f(nudged) - f(x)| that was seen,
// by result and element; infinite if only one of the two is a number.
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

// Tolerance of one result if nothing is known of the program. `expected`: a correct value of it.
// The tolerances are those of iree-run-module's --expected_output for the element type (1e-4 for
// f32). They are relative to the largest element, since a sum of large terms may be small. Integers
// are exact.
measure::Tolerance program_tolerance(const problem::Array& expected);

// Tolerance that most correct compiles meet: a tenth of program_tolerance() for f32 (84 units in
// the last place of the largest element) and f64. An element beyond it must be one that moves
// (OutputMoves).
measure::Tolerance rounding_tolerance(const problem::Array& expected);

// Names the first output whose bits differ from the expected one's, and how many elements differ;
// empty if none does. Numbers and types must be the same.
std::string changed_bits(const std::vector<problem::Array>& outputs,
                         const std::vector<problem::Array>& expected);

// Whether an output is f16 or bf16. In a deep program, rounding of these adds up to more than any
// tolerance that would still find mistakes.
bool are_narrow(const std::vector<problem::Array>& outputs);

// Widens f16 and bf16 to f32; other types stay as they are.
problem::ElementType widened(problem::ElementType type);
problem::Array widened(const problem::Array& array);

// Returns the root mean square of an output's error, as a share of the exact result's. `wide`: the
// same result of the program computed in f32. Infinite if only one of two elements is a number.
double error_by_wide(const problem::Array& output, const problem::Array& wide);

// Names the first output that differs from the expected one by more than rounding, with its first
// bad element; empty if none does. The tolerances are those of program_tolerance(). Input error:
// numbers or types differ. `wide`: the results of the program computed in f32, or none. A narrow
// output beyond its tolerance is still right if `wide` shows at most twice the expected one's
// error. That holds for the root mean square and for the worst element. Twice: the change is then
// no larger than the default's own error. If that error exceeds a tenth of the output's own root
// mean square, nothing can be told, and the text says so.
Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected,
                                          const std::vector<problem::Array>& wide = {});

// Whether a dispatch of the program holds or computes numbers of f16 or bf16, whatever its results
// are.
bool computes_narrow(const problem::Program& program);

// Further evidence, requested if outputs lie apart. Each is called at most once.
struct OutputWitnesses {
  // Returns how far the expected outputs move; none if that is unknown.
  std::function<Result<std::optional<OutputMoves>>()> moves;
  // Returns the results of the program in f32; empty if that is not possible. Null if the program
  // computes nothing in f16 or bf16.
  std::function<Result<std::vector<problem::Array>>()> wide;
};

struct JudgedOutput {
  measure::Comparison comparison;
  measure::Tolerance tolerance;
  bool by_moves = false;         // elements were allowed what they move
  std::string by_wide;           // why the program in f32 does not clear it, where it was asked
  measure::DifferenceForm form;  // of what is wrong
};

// Compares outputs within rounding_tolerance(). An output beyond it is compared by its elements'
// moves, and if these do not clear it, by the program in f32. Errors: other numbers or types of
// results; what a witness returns.
Result<std::vector<JudgedOutput>> judge_outputs(const std::vector<problem::Array>& outputs,
                                                const std::vector<problem::Array>& expected,
                                                const OutputWitnesses& witnesses);
// Describes the first wrong output; empty if none is wrong.
std::string difference_in(const std::vector<JudgedOutput>& judged);

}  // namespace hone::tune
