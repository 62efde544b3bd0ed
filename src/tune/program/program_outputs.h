// Do two compiles of a whole program compute the same?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/difference_form.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "tune/program/output_moves.h"

namespace hone::tune {

// Empty when each output has the expected one's bits; else which has not, and how many elements do
// not. Of the same number and types.
std::string changed_bits(const std::vector<problem::Array>& outputs,
                         const std::vector<problem::Array>& expected);

// Whether one of them is of f16 or bf16. Through a deep program the rounding of these adds up to
// more than any tolerance that would still find mistakes.
bool are_narrow(const std::vector<problem::Array>& outputs);

// f32 of what is narrow; other types as they are.
problem::ElementType widened(problem::ElementType type);
problem::Array widened(const problem::Array& array);

// The root mean square of an output's error as a share of its own, by `wide`, the same result of
// the program computed in f32; infinite where one has a value and the other has none.
double error_by_wide(const problem::Array& output, const problem::Array& wide);

// Empty when each output is the expected one but for rounding; else which is not, with the first
// bad element (the tolerances are program_tolerance.h's). An input error when their number or types
// differ. `wide`: the results of the program computed in f32, or none. By these a narrow output
// beyond its tolerance is right all the same when it lies at most twice as far from `wide` as the
// expected one does, in root mean square and at its worst element. Twice: the change is then no
// larger than the error that the default makes itself. When that error is more than a tenth of the
// output's own root mean square nothing can be told, and the text says so.
Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected,
                                          const std::vector<problem::Array>& wide = {});

// Whether a dispatch of the program holds or computes numbers of f16 or bf16, whatever its results
// are.
bool computes_narrow(const problem::Program& program);

// What is asked of a program where its outputs lie apart. Each is called at most once.
struct OutputWitnesses {
  // How far the expected outputs move (output_moves.h); nothing where that is not known.
  std::function<Result<std::optional<OutputMoves>>()> moves;
  // The program computed in f32; empty where that is not possible. Null where it computes nothing
  // in f16 or bf16.
  std::function<Result<std::vector<problem::Array>>()> wide;
};

struct JudgedOutput {
  measure::Comparison comparison;
  measure::Tolerance tolerance;
  bool by_moves = false;         // elements were allowed what they move
  std::string by_wide;           // why the program in f32 does not clear it, where it was asked
  measure::DifferenceForm form;  // of what is wrong
};

// Compares outputs within rounding_tolerance(); where one lies beyond it, with what its elements
// move, and where that does not clear it either, with the program in f32. Errors: other numbers or
// types of results; what a witness returns.
Result<std::vector<JudgedOutput>> judge_outputs(const std::vector<problem::Array>& outputs,
                                                const std::vector<problem::Array>& expected,
                                                const OutputWitnesses& witnesses);
// The first that is wrong, in words; empty where none is.
std::string difference_in(const std::vector<JudgedOutput>& judged);

}  // namespace hone::tune
