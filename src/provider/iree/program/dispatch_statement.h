// A dispatch as one root (a contraction, a convolution, attention) with what goes element by
// element behind it, stated so that others than IREE can write a kernel that takes its place in a
// program.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// What problem::Dispatch::statement holds, as provider/triton/python/stated_kernel.py reads it:
// "kind" ("contraction": lhs, rhs, what the sums start from; "attention": query, key, value, scale,
// perhaps a mask); loops of the root with their roles (batch, m, n, k; of attention k1 along heads,
// k2 along keys); operands, loads and stores by the view they lie in and their strides, in
// elements, over the root's loops; what is computed behind the root, value by value;
// a table is a load from a constant of the dispatch's own, with all its "words".
// If the dispatch is of another form, it is {"why_not": "..."}.
// `function`: the kernel's, at executable-sources. `kernel`: sizes that its launch gives.
nlohmann::json state_dispatch(const Ir& ir, MlirOperation function, MlirOperation root,
                              const Sizes& kernel);

}  // namespace hone::iree
