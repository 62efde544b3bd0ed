// hone's own space for attention on a GPU for which the compiler states none (NVIDIA):
// VectorDistribute, as the compiler's default, with the matrix instruction that both products use.
//
//   wg_m       queries of one workgroup
//   wg_n       columns of the result of one workgroup
//   red_k2     keys per step
//   subgroups  that share the queries
//
// The scores of a step stay in registers and are the left operand of the second product. Q, K and V
// go through shared memory.
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {

// Whether the root is attention of 16-bit floats over one batch of heads, with whole instructions.
bool is_known_attention(const problem::Operation& root, const problem::GpuTarget& target);
Result<space::Space> attention_space(const problem::Operation& root,
                                     const problem::GpuTarget& target);
Result<Attributes> attention_attributes(const problem::Operation& root,
                                        const problem::GpuTarget& target, const Values& values);

}  // namespace hone::iree::gpu
