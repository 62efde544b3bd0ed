// Inputs as .npy files, for runs under a provider's own runtime.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

// By the kernel's own bindings.
struct BindingFiles {
  std::vector<std::filesystem::path> contents;  // empty for one that is only written
  std::vector<problem::TensorType> types;       // bytes for one that several views lie in
};
// The data that the runner gives each binding (measure/inputs.h), in `folder`. A failure for views
// that lie so far apart that the file would have more than a gigabyte.
Result<BindingFiles> write_binding_files(const problem::Dispatch& dispatch,
                                         const std::filesystem::path& folder, std::uint64_t seed);

// Arguments of a whole program, those given and those made up, as arguments_for has them. An input
// error where they do not fit the function, or a shape stays open.
Result<std::vector<std::filesystem::path>> write_argument_files(
    const problem::Function& function, const std::vector<GivenArgument>& given,
    const std::filesystem::path& folder, std::uint64_t seed);

}  // namespace hone::tune
