// The bindings of a dispatch in hone's terms: one problem::Binding per view.
#pragma once

#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// Describes each view as a binding. A view that the root operation's operands are traced back to is
// a root input. Input error for a type hone does not know.
Result<std::vector<problem::Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                                        MlirOperation root, const Views& views);

// Returns for each operand of the root operation the index of the view whose whole content it is,
// or, for an output, becomes. -1 if anything but a reshape lies between
// (problem::Dispatch::root_bindings). `kernel`: known integers of the kernel.
std::vector<int> root_bindings(const Ir& ir, MlirOperation function, MlirOperation root,
                               const Sizes& kernel, const Views& views);

}  // namespace hone::iree
