// Operations of a dispatch that a configuration of its root affects. IREE configures them itself
// only if it chooses the root's configuration; a given root configuration must come with theirs.
#pragma once

#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

struct FoundSurrounding {
  MlirOperation operation;
  problem::SurroundingOperation what;
};

// Finds the operations that are connected with `root` through tensors. Their order follows from the
// IR alone: equal modules give equal lists. Loops are followed through the dimensions of shared
// tensors, as in IREE's IterationDimTracker. Tensors without contents (tensor.empty) connect
// nothing.
std::vector<FoundSurrounding> find_surrounding(const Ir& ir, MlirOperation function,
                                               MlirOperation root);

}  // namespace hone::iree
