// Inputs as .npy files, for runs under a provider's own runtime.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"

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

// Arguments of a whole program: reals of about unit size, small integers for integer types. An
// input error for a function with a dynamic shape.
Result<std::vector<std::filesystem::path>> write_argument_files(const problem::Function& function,
                                                                const std::filesystem::path& folder,
                                                                std::uint64_t seed);

}  // namespace hone::tune
