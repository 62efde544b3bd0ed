// Statement of a dispatch as one root (a contraction, a convolution, attention) and the elementwise
// operations behind it, or as elementwise operations and reductions of rows. Other compilers can
// write a kernel from it that replaces the dispatch in a program.
#pragma once

#include "problem/statement.h"
#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// States a dispatch, apart from how it is launched (entry, bindings, constants, layout). Operands,
// loads and stores are over the root's loops, or over those that all operations share
// (SharedLoops). A dispatch of another form has a problem::Statement::why_not. `function`: the
// kernel's, at executable-sources. `kernel`: sizes that its launch gives.
problem::Statement state_dispatch(const Ir& ir, MlirOperation function, MlirOperation root,
                                  const Sizes& kernel);

}  // namespace hone::iree
