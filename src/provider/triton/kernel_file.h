// A Python file with a user's kernel, as Python itself reads it; nothing of it is run.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "provider/triton/user_kernel.h"

namespace hone::triton {

// Returns the parameters of `function` in the file `path`, as the interpreter `python` reads them
// (0.1 s). Input errors, "my_kernel.py:12: ...": a syntax error, no such function at the top level
// (nearest names), a function without @triton.jit. An import from the file's own folder is an error
// too: a kernel is one file, since its content is the key of its results. An environment error if
// Python does not run.
Result<std::vector<KernelParameter>> kernel_parameters(const std::filesystem::path& python,
                                                       const std::string& path,
                                                       const std::string& function);

}  // namespace hone::triton
