// hone's own spaces for work that waits for memory on a GPU: along rows, and output by output.
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {

// Work along rows (VectorDistribute): reductions along the
// innermost dimension, products of a matrix with a vector, softmax.
//
//   rows           rows of one workgroup
//   row_subgroups  subgroups that lie beside each other, each with rows of its own
//   subgroups      that share a row
//   lanes          of a subgroup that share a row; the rest of them have rows of their own
//   vector         elements a thread loads at once
//   steps          loads per thread and iteration
//
// Outer reduction loops (a sum over batch and image of a channel) go one by one. Operations of the
// dispatch beside the root with the same loops, such as the maximum of a softmax and what divides
// by its sum, are given the same layout: IREE configures them only beside a root of its own choice
// ("failed to distribute").

// Whether the root goes along rows that threads can share without a remainder.
bool goes_along_rows(const problem::Operation& root, const problem::GpuTarget& target);
Result<space::Space> row_space(const problem::Operation& root, const problem::GpuTarget& target);
Result<Attributes> row_attributes(const problem::Operation& root, const problem::GpuTarget& target,
                                  const Values& values);

// Work that threads do output by output (TileAndFuse): elementwise
// operations, copies and transposes, and reductions that do not go along rows.
//
//   wg_<loop>   tile of one workgroup, for the last loop and for those that some operand has
//               innermost; 1 for the others
//   vector      iterations of the last output loop that one thread does at once
//   threads     of a workgroup
//   red_<loop>  steps of a reduction loop
//   promote     1: the operand that is transposed goes through shared memory
bool goes_by_outputs(const problem::Operation& root);
Result<space::Space> output_space(const problem::Operation& root, const problem::GpuTarget& target);
Result<Attributes> output_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values);

}  // namespace hone::iree::gpu
