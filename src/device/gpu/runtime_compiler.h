// A vendor's run-time compiler of C++ for its GPUs: NVRTC and hiprtc have the same calls.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/library.h"

namespace hone::device::gpu {

struct RuntimeCompiler {
  std::string name;    // "libnvrtc", in messages
  std::string prefix;  // of its functions: "nvrtc"
  std::string code;    // of the functions that give its result: "PTX", "Code"
};

// Returns the code of `source` as the compiler gives it. An environment error if the library has
// not its functions; a failure with the compiler's log if the source is wrong.
Result<std::string> compile_source(const SharedLibrary& library, const RuntimeCompiler& compiler,
                                   const std::string& source,
                                   const std::vector<std::string>& options);

}  // namespace hone::device::gpu
