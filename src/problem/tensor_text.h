// The types of tensors as people and compilers write them.
#pragma once

#include <optional>
#include <string_view>

#include "problem/types.h"

namespace hone::problem {

// "4x?xf32" or "f32", as to_string writes it. Nothing for other text, and for element types that
// hone does not know.
std::optional<TensorType> tensor_type_from(std::string_view text);

}  // namespace hone::problem
