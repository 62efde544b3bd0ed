// What a dispatch computes, value by value, read from its IR.
#pragma once

#include "problem/computation.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// The values that reach a store of `function` (at executable-sources), through linalg operations
// and their bodies, reshapes, slices, paddings, softmax and attention. What is none of these is a
// Value of kind kUnknown, made of what it reads. `root` marks what the root operation gives; it may
// be null.
problem::Computation read_computation(const Ir& ir, MlirOperation function, MlirOperation root,
                                      const Views& views);

}  // namespace hone::iree
