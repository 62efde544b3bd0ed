// hone's own spaces for GPU operations for which IREE 3.13 states no constraints, or crashes when
// asked: matrix products (matmul_space.h), reductions along rows (row_space.h), outputs computed
// one by one by threads (output_space.h), attention (attention_space.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// Reductions have two of these ways, and then kPipelineKnob says which (stated_space.h).

// Why hone has no space of its own for the operation; empty where it has one.
std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target);
// Input error with that reason.
Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target);
// Converts a configuration of that space to IREE attributes.
Result<Attributes> gpu_own_attributes(const problem::Operation& root,
                                      const problem::GpuTarget& target, const space::Space& space,
                                      const space::Configuration& configuration);

}  // namespace hone::iree
