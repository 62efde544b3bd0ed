// hone's own space for what threads compute output by output on a GPU (TileAndFuse): elementwise
// operations, copies and transposes, and reductions that do not go along rows.
//
//   wg_<loop>   tile of one workgroup, for the last loop and for those that some operand has
//               innermost; 1 for the others
//   vector      iterations of the last output loop that one thread does at once
//   threads     of a workgroup
//   red_<loop>  steps of a reduction loop
//   promote     1: the operand that is transposed goes through shared memory
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {

bool goes_by_outputs(const problem::Operation& root);
Result<space::Space> output_space(const problem::Operation& root, const problem::GpuTarget& target);
Result<Attributes> output_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values);

}  // namespace hone::iree::gpu
