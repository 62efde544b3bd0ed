// NVIDIA's run-time compiler for CUDA C++ (libnvrtc), opened at run time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::device::cuda {

// Names under which the library is tried: the system's own, then those below toolkit_folders().
std::vector<std::string> nvrtc_names();

// PTX of `source` for compute capability 8.0 and later, by the first of `names` that opens.
// Environment error when none does; failure with the compiler's log when the source is wrong.
Result<std::string> compile_cuda(const std::string& source,
                                 const std::vector<std::string>& names = nvrtc_names());

}  // namespace hone::device::cuda
