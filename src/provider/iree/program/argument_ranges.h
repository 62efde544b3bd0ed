// Valid ranges of a function's integer arguments, derived from their uses in the program.
#pragma once

#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Returns the integer inputs of `function` that index, size or count something, one entry each. An
// index gets the largest range for which every access lies within its tensor. Without such a range,
// and for a shape or a trip count, the entry says so (InputRange::unknown). `module` is the program
// after phase `input`. An extent that the program leaves open comes from the function's inputs, if
// these have it. Values are followed through casts, arithmetic, selections, scans, sums, reshapes
// and calls.
std::vector<problem::InputRange> argument_ranges(const Ir& ir, const OwnedModule& module,
                                                 const problem::Function& function);

}  // namespace hone::iree
