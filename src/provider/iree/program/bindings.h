// What a dispatch is bound to, as hone describes it: one problem::Binding for each of its views.
#pragma once

#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// One for each view. A view that the root operation's operands are traced back to is a root input.
// Input error for a type hone does not know.
Result<std::vector<problem::Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                                        MlirOperation root, const Views& views);

// By operand of the root operation: the place of the view whose whole content it is (or, for an
// output, becomes), -1 where anything but a reshape lies between
// (problem::Dispatch::root_bindings). `kernel`: what is known of the kernel's integers.
std::vector<int> root_bindings(const Ir& ir, MlirOperation function, MlirOperation root,
                               const Sizes& kernel, const Views& views);

}  // namespace hone::iree
