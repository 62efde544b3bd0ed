// Element types as tune_gemm.py's flags and files spell them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "problem/types.h"

namespace hone::triton {

// "fp16", "bf16", "fp32", "fp8" (e4m3), "bf8" (e5m2), "int8", "int32"; hone's own names ("f16")
// too.
std::optional<problem::ElementType> type_from_tune_gemm(std::string_view name);
std::string_view tune_gemm_name_of(problem::ElementType type);
// "fp16, bf16, ...", for messages.
std::string tune_gemm_type_names();

}  // namespace hone::triton
