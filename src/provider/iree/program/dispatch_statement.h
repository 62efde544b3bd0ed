// Statement of a dispatch as one root (a contraction, a convolution, attention) and the elementwise
// operations behind it. Other compilers can write a kernel from it that replaces the dispatch in a
// program.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// Writes problem::Dispatch::statement, in the form that provider/triton/python/stated_kernel.py
// reads:
// - "kind": "contraction" (lhs, rhs, initial value of the sums) or "attention" (query, key, value,
//   scale, perhaps a mask);
// - loops of the root with their roles: batch, m, n, k; for attention k1 along heads and k2 along
//   keys;
// - operands, loads and stores, by their view and their strides (elements) over the root's loops;
// - the computation behind the root, value by value. A table is a load from a constant of the
//   dispatch's own, with all its "words".
// A dispatch of another form gives {"why_not": "..."}. `function`: the kernel's, at
// executable-sources. `kernel`: sizes that its launch gives.
nlohmann::json state_dispatch(const Ir& ir, MlirOperation function, MlirOperation root,
                              const Sizes& kernel);

}  // namespace hone::iree
