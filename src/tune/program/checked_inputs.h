// Inputs on which a program's outputs are informative. A result that has one value, or stays the
// same whatever the inputs are, is equal in a right and in a wrong compile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/program_provider.h"
#include "tune/program/program_outputs.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

// Arguments in files, and the results of the compile that others are compared with.
struct CheckedSet {
  std::vector<std::filesystem::path> inputs;
  std::vector<problem::Array> expected;
  // Set at the first request.
  std::optional<std::optional<OutputMoves>> moves = {};
  std::optional<std::vector<problem::Array>> wide = {};  // of the program in f32
};

struct CheckedInputs {
  std::vector<CheckedSet> sets;  // outputs are compared on each
  // Reason why outputs are uninformative on all inputs that were tried; empty if they are not.
  std::string says_nothing = {};
  bool redrawn = false;  // the sets are not those that were given or made up
};

// Adapts `call` to the program compiled in f32: results and arguments of f16 and bf16 become f32.
// Writes the arguments, converted from `inputs`, to `folder`.
Result<provider::ProgramCall> widened_call(provider::ProgramCall call,
                                           const std::vector<std::filesystem::path>& inputs,
                                           const std::filesystem::path& folder);

// Reason why results do not tell a right compile from a wrong one; empty if they do. A result is
// uninformative if it has one value, or if it is of reals and has two. So is one that is the same
// for both inputs though these differ. Uninformative integers beside informative results are
// ignored: masks and shapes are constant. A function without results is uninformative.
std::string why_outputs_say_nothing(const std::vector<problem::Array>& outputs,
                                    const std::vector<problem::Array>& others, bool inputs_differ);

// Returns two sets of arguments: the first and another draw. If their results are uninformative,
// tries draws whose reals are 64 times as large, then as small. Given arguments are scaled like
// draws, but one whose elements are all equal is drawn as if it had not been given. Integers keep
// their values in another order, since they may be indices. `folder`: for the files. Errors:
// `run`'s; a file that cannot be written.
Result<CheckedInputs> inputs_that_tell(const std::vector<GivenArgument>& given, CheckedSet first,
                                       const std::filesystem::path& folder, std::uint64_t seed,
                                       const RunOnFiles& run);

}  // namespace hone::tune
