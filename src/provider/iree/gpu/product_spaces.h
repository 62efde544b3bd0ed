// hone's own spaces for matrix products and attention on a GPU.
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {

// Matrix products (TileAndFuse).
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

// Attention on a GPU for which the compiler states no space (NVIDIA): VectorDistribute, as the
// compiler's default, with the matrix instruction that both products use.
//
//   wg_m       queries of one workgroup
//   wg_n       columns of the result of one workgroup
//   red_k2     keys per step
//   subgroups  that share the queries
//
// The scores of a step stay in registers and are the left operand of the second product. Q, K and V
// go through shared memory.

// Whether the root is attention of 16-bit floats over one batch of heads, with whole instructions.
bool is_known_attention(const problem::Operation& root, const problem::GpuTarget& target);
Result<space::Space> attention_space(const problem::Operation& root,
                                     const problem::GpuTarget& target);
Result<Attributes> attention_attributes(const problem::Operation& root,
                                        const problem::GpuTarget& target, const Values& values);

}  // namespace hone::iree::gpu
