// hone's own spaces for matrix products on a GPU (TileAndFuse).
//
// With matrix instructions (the rules are those that the compiler states for a plain matmul):
//   mma            which matrix instruction
//   wg_m, wg_n     tile of one workgroup
//   sg_m, sg_n     matrix instructions of one subgroup along m and n
//   red_k          matrix instructions along k per step
// Extents that are no whole instructions are padded to whole tiles in shared memory, and the result
// with them.
// Without matrix instructions:
//   wg_m, wg_n     tile of one workgroup;  th_m, th_n  of one thread;  red_k  steps of k
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {

// Whether the root is a matmul or a batch matmul of one m, n and k loop each.
bool is_matrix_product(const problem::Operation& root);
// Whether the extent of its k loop is open. hone has no space for such roots: 41 of 41
// configurations of a 512x1024x509 product gave kernels that did not end on an H200 (IREE 3.13).
bool has_open_k(const problem::Operation& root);

// The space for operands with matrix instructions on the target.
Result<space::Space> instruction_space(const problem::Operation& root,
                                       const problem::GpuTarget& target);
Result<Attributes> instruction_attributes(const problem::Operation& root,
                                          const problem::GpuTarget& target, const Values& values);
// The space for other operands.
Result<space::Space> thread_space(const problem::Operation& root, const problem::GpuTarget& target);
Result<Attributes> thread_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values);

}  // namespace hone::iree::gpu
