// Inputs as .npy files, for runs under a provider's own runtime.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

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
