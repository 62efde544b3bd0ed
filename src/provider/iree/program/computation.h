// The computation of a dispatch, value by value, read from its IR.
#pragma once

#include "problem/computation.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// Reads the values that reach a store of `function` (at executable-sources). It follows linalg
// operations and their bodies, reshapes, slices, paddings, softmax and attention. Any other
// operation is a Value of kind kUnknown, made of what it reads. `root` (may be null) marks the root
// operation's results.
problem::Computation read_computation(const Ir& ir, MlirOperation function, MlirOperation root,
                                      const Views& views);

}  // namespace hone::iree
