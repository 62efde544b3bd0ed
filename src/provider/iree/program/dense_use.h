// Accesses of an operation's loops to dense tensors, the form before a program is split into
// dispatches: operands of a statement (problem::Statement).
#pragma once

#include <optional>
#include <vector>

#include "problem/statement.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

std::size_t loop_count(const Ir& ir, MlirAttribute map);

// Returns the use of the view with its tensor's dimensions. Nothing if a size is open or an index
// is not a sum of loops.
std::optional<problem::StatedUse> dense_use(const Ir& ir, MlirValue tensor, MlirAttribute map,
                                            std::size_t view);

// Converts a use to the `count` loops of another operation: loop l is its loop root_loop[l].
problem::StatedUse over_loops(problem::StatedUse use, const std::vector<int>& root_loop,
                              std::size_t count);

}  // namespace hone::iree
