// Programs printed without their large constants (--mlir-elide-elementsattrs-if-larger). The
// compiler accepts such programs and fails on them later.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "problem/types.h"

namespace hone::iree {

struct FilledProgram {
  std::string text;
  std::size_t constants = 0;  // that had been left out; 0: the text is as it was
};

bool has_elided_constants(std::string_view program);

// Fills `dense_resource<__elided__>` in the program's text. `contents` gives the bytes of a tensor
// and is called once for each type; constants of one type share them. A constant of a type that
// hone does not know stays as it is.
FilledProgram with_contents(std::string_view program,
                            const std::function<std::string(const problem::TensorType&)>& contents);

}  // namespace hone::iree
