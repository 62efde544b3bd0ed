// Tests whether two compiles of a whole program compute the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/array_difference.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "tune/program/output_moves.h"

namespace hone::tune {

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
// bad element; empty if none does. The tolerances are those of program_tolerance.h. Input error:
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
  // Returns how far the expected outputs move (output_moves.h); none if that is unknown.
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
