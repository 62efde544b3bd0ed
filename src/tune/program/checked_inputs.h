// Inputs on which a program's outputs say what it computes. A result that has one value, or stays
// as it is whatever the inputs are, is the same in a right and in a wrong compile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/program_provider.h"
#include "tune/program/output_moves.h"
#include "tune/program/program_outputs.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

// Arguments in files, and the results of the compile that others are compared with.
struct CheckedSet {
  std::vector<std::filesystem::path> inputs;
  std::vector<problem::Array> expected;
  // Once they were asked for.
  std::optional<std::optional<OutputMoves>> moves = {};
  std::optional<std::vector<problem::Array>> wide = {};  // of the program in f32
};

struct CheckedInputs {
  std::vector<CheckedSet> sets;  // outputs are compared on each
  // Why outputs on no inputs that were tried say anything; empty where they do.
  std::string says_nothing = {};
  bool redrawn = false;  // the sets are not those that were given or made up
};

// `call` of a program compiled in f32: with its results' types, and arguments as wide, which are
// written to `folder` beside `inputs`.
Result<provider::ProgramCall> widened_call(provider::ProgramCall call,
                                           const std::vector<std::filesystem::path>& inputs,
                                           const std::filesystem::path& folder);

// Why a result does not tell a right compile from a wrong one: it has one value, or two, where it
// is of reals; or it is the same for both inputs though these differ. Empty where it does. A
// result of integers beside others that tell is no reason: masks and shapes are constant. No
// result at all tells nothing.
std::string why_outputs_say_nothing(const std::vector<problem::Array>& outputs,
                                    const std::vector<problem::Array>& others, bool inputs_differ);

// Two sets of arguments: `inputs` and another draw. Where the results say nothing, draws whose
// reals are 64 times as large, and as small; what was given counts as a draw, and a given argument
// whose elements are all equal is drawn as if it had not been given. Integers keep their values in
// another order, since they may be indices. `folder`: for the files. Errors: `run`'s; a file that
// cannot be written.
Result<CheckedInputs> inputs_that_tell(const std::vector<GivenArgument>& given, CheckedSet first,
                                       const std::filesystem::path& folder, std::uint64_t seed,
                                       const RunOnFiles& run);

}  // namespace hone::tune
