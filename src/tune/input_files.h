// Inputs as .npy files, for runs under a provider's own runtime.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"

namespace hone::tune {

// The data that the runner gives each binding (measure/inputs.h), in `folder`; an empty path for
// a binding that is only written.
Result<std::vector<std::filesystem::path>> write_binding_files(const problem::Dispatch& dispatch,
                                                               const std::filesystem::path& folder,
                                                               std::uint64_t seed);

// Arguments of a whole program: reals of about unit size, small integers for integer types. An
// input error for a function with a dynamic shape.
Result<std::vector<std::filesystem::path>> write_argument_files(const problem::Function& function,
                                                                const std::filesystem::path& folder,
                                                                std::uint64_t seed);

}  // namespace hone::tune
