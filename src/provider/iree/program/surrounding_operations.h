// The operations of a dispatch that a configuration of its root concerns. IREE configures them
// itself only where it chooses the root's configuration; beside a given one they need theirs.
#pragma once

#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

struct FoundSurrounding {
  MlirOperation operation;
  problem::SurroundingOperation what;
};

// Those that are connected with `root` through tensors, in an order that follows from the IR
// alone: equal modules give equal lists. Loops are followed through the dimensions of the tensors
// that operations share, as IREE's IterationDimTracker does; tensors without contents
// (tensor.empty) connect nothing.
std::vector<FoundSurrounding> find_surrounding(const Ir& ir, MlirOperation function,
                                               MlirOperation root);

}  // namespace hone::iree
