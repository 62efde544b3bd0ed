// A Python file with a user's kernel, as Python itself reads it; nothing of it is run.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "provider/triton/user_kernel.h"

namespace hone::triton {

// The parameters of `function` in the file `path`, by the interpreter `python` (0.1 s). Input
// errors, "my_kernel.py:12: ...": a syntax error, no such function at the top level (nearest
// names), one without @triton.jit, an import from the file's own folder: a kernel is one file,
// since its content is what results are kept by. An environment error when Python does not run.
Result<std::vector<KernelParameter>> kernel_parameters(const std::filesystem::path& python,
                                                       const std::string& path,
                                                       const std::string& function);

}  // namespace hone::triton
