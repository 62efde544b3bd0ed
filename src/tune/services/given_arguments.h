// Arguments of a function or a dispatch that the user gives (--input), and inputs as .npy files,
// for runs under a provider's own runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "problem/npy.h"

namespace hone::tune {

struct GivenArgument {
  std::string name;                         // for messages: "--input 'a.npy'"
  std::optional<problem::TensorType> type;  // none: what is wanted
  std::optional<problem::Array> array;      // of a file, of type *type
  std::vector<double> values;  // one for all elements or one for each; none: made up by hone
};

// Parses one argument in iree-run-module's syntax: "@a.npy" (or just the path), "2x3xf32=0.5",
// "2x3xf32=1,2,3,4,5,6", "=0.5" of the wanted type. "2x3xf32" has values that hone makes up. Input
// errors: no such file, not a number, a wrong number of values (neither one nor all elements), an
// open extent.
Result<GivenArgument> given_argument(const std::string& text);

// "4x8xf32, 8xf32".
std::string list_of(const std::vector<problem::TensorType>& types);

// Returns `wanted` with its open extents filled in from `given`; `wanted` itself where the ranks
// differ.
problem::TensorType filled_in(problem::TensorType wanted, const problem::TensorType& given);

// Returns the sizes of a program that `sizes` and the shapes of `given` fix. `given` are arguments
// of `function`, or of any function if that is empty.
problem::GivenSizes sizes_given(problem::SizeSet sizes, const std::string& function,
                                const std::vector<GivenArgument>& given);

// Returns `wanted` with its open extents filled in from `given`, whose last ones may be missing.
// `what` names the arguments in messages: "the inputs of 'f'". Input errors: too many arguments; a
// shape or element type that does not fit.
Result<std::vector<problem::TensorType>> types_given(std::vector<problem::TensorType> wanted,
                                                     const std::vector<GivenArgument>& given,
                                                     const std::string& what);

// Returns an array for each of `wanted`: the given ones in order, the others made up from `seed`.
// `wanted` may leave extents open that were given. Made-up reals are of about unit size, integers
// small whole numbers; those of `ranges` stay within their range. Input errors: types_given's; an
// extent that stays open.
Result<std::vector<problem::Array>> arguments_for(
    const std::vector<problem::TensorType>& wanted, const std::vector<GivenArgument>& given,
    const std::string& what, std::uint64_t seed,
    const std::vector<problem::InputRange>& ranges = {});

// Files and types, by the kernel's own bindings.
struct BindingFiles {
  std::vector<std::filesystem::path> contents;  // empty for one that is only written
  std::vector<problem::TensorType> types;       // bytes for one that several views lie in
};
// Writes the data that the runner gives each binding (measure/inputs.h) to files in `folder`. Fails
// where views lie so far apart that a file would exceed a gigabyte.
Result<BindingFiles> write_binding_files(const problem::Dispatch& dispatch,
                                         const std::filesystem::path& folder, std::uint64_t seed);

// Writes the arguments of a whole program, given and made up as in arguments_for(). Input errors:
// arguments that do not fit the function; a shape that stays open.
Result<std::vector<std::filesystem::path>> write_argument_files(
    const problem::Function& function, const std::vector<GivenArgument>& given,
    const std::filesystem::path& folder, std::uint64_t seed);

}  // namespace hone::tune
