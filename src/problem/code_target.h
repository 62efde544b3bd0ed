// Which GPU a code object is for, as its ELF header says it: asked before a driver is, since what a
// driver does with another's code ranges from an error to the end of the process
// (HSA_STATUS_ERROR_INVALID_ISA).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::problem {

// "sm_90" of a cubin (NVIDIA's ELF flags as LLVM's BinaryFormat/ELF.h has them, those of ABI 8 as
// CUDA 13's ptxas writes them), "gfx942" of an AMD code object (LLVM's AMDGPUUsage, "ELF Header"),
// "gfx?0x7f" and the like for an AMD processor newer than this list. Nothing for any other bytes.
std::optional<std::string> code_target(std::string_view code);

// A failure that names both where `code` is for a GPU other than `target` ("sm_90", "gfx942").
// Cubins run on later minor versions of their major version too. Bytes without a target pass.
Status check_code_target(std::string_view code, std::string_view target);

}  // namespace hone::problem
