// Functions that replace operations in a spec (extern_spec.h), as text.
#pragma once

#include <string>
#include <string_view>

#include "provider/iree/extern_spec.h"

namespace hone::iree {

// Launches the kernel, with its borders. `head`: the function's operation and name
// ("util.func private @kernel_0"), `leave`: what returns from it ("util.return").
std::string extern_function(const ExternDispatch& dispatch, std::string_view head,
                            std::string_view leave, problem::GpuBackend backend);

// The operation itself, its operands and its result rounded to the types that the kernel has; a
// util.func.
std::string converted_function(const ExternDispatch& dispatch, std::string_view head);

}  // namespace hone::iree
