// Programs that were printed without their large constants (--mlir-elide-elementsattrs-if-larger),
// which the compiler takes and then fails on.
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

// The program's text with contents for `dense_resource<__elided__>`: `contents` gives the bytes of
// a tensor, asked once for each type. Constants of one type share them. One of a type that hone
// does not know stays as it is.
FilledProgram with_contents(std::string_view program,
                            const std::function<std::string(const problem::TensorType&)>& contents);

}  // namespace hone::iree
