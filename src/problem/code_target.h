// Reads from a code object's ELF header which GPU it is for. hone checks it before it calls a
// driver, whose reaction to another GPU's code ranges from an error to the end of the process
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

// Returns an AMD code object that names another processor, in its header and its metadata. Only
// gfx942 for code of gfx940 or gfx941: it has their instructions, and their code is gfx942's but
// for stores that pass the caches (LLVM 19; later LLVM has gfx942 alone). A failure for other
// pairs.
Result<std::string> for_processor(std::string_view code, std::string_view processor);
// Whether for_processor() can name `processor` in code for `made_for`.
bool has_its_instructions(std::string_view processor, std::string_view made_for);

// Returns the GPU that AMD's runtime takes `target` for if HSA_OVERRIDE_GFX_VERSION is `version`:
// "9.4.0" makes any AMD GPU gfx940. The version has major, minor and stepping as in AMDGPUUsage's
// processor names: decimal, then hexadecimal digits ("9.0.10" is gfx90a). Returns `target` itself
// if `version` is empty or `target` is no AMD GPU. An input error for another text.
Result<std::string> target_under_override(std::string_view target, std::string_view version);
// Returns the version that makes a GPU AMD's `target` ("gfx940": "9.4.0"); empty for another name.
std::string override_for(std::string_view target);

}  // namespace hone::problem
