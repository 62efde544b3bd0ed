// The values that integer arguments of a function may have, by what the program does with them.
#pragma once

#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Returns the integer inputs of `function` that index, size or count something, one entry each. An
// index has the largest range from which every access lies within its tensor; where hone cannot
// tell one, and for a shape or a trip count, the entry says so (InputRange::unknown). `module` is
// the program after phase `input`. An extent that the program leaves open is that of the function's
// inputs, where these have it. Values are followed through casts, arithmetic, selections, scans,
// sums, reshapes and calls.
std::vector<problem::InputRange> argument_ranges(const Ir& ir, const OwnedModule& module,
                                                 const problem::Function& function);

}  // namespace hone::iree
