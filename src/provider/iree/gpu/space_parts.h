// hone's own spaces for GPUs (space.h), and their building blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/gpu/space.h"
#include "space/space.h"

namespace hone::iree::gpu {

// Loops of a contraction by role, in loop order.
struct LoopsByRole {
  std::vector<int> batch, m, n, k;
};
LoopsByRole loops_of(const problem::Operation& root);

// Iterations of a loop.
space::Value size(const problem::Operation& root, int loop);
// Whether the program leaves its size open, so that code for it takes every size.
bool is_open(const problem::Operation& root, int loop);
// Whether one element after the other lies in memory along `loop`.
bool is_innermost(const problem::Operand& operand, int loop);
// Loops that are reductions, and those that are not, in loop order.
std::vector<int> reduction_loops(const problem::Operation& root);
std::vector<int> parallel_loops(const problem::Operation& root);

// Divisors of `of` from `from` to `to`, ascending.
std::vector<space::Value> divisors(space::Value of, space::Value from, space::Value to);
// The tiles of a loop, ascending, at most `largest`: its divisors, and powers of two too if
// remainders are padded. An open size has no divisors: its tiles are powers of two and three times
// those.
std::vector<space::Value> tiles_of(const problem::Operation& root, int loop, bool padded,
                                   space::Value largest);
// 1, 2, 4, ... up to `to`.
std::vector<space::Value> powers_of_two(space::Value to);

// The matrix instructions that multiply a contraction's operands; none for operands of two types.
std::vector<MatrixInstruction> instructions_for(const problem::Operation& root,
                                                const problem::GpuTarget& target);

// "[1, 64, 128, 0]": what each loop gets, by its number.
class PerLoop {
 public:
  explicit PerLoop(const problem::Operation& root, space::Value everywhere = 0)
      : values_(root.loops.size(), everywhere) {}
  PerLoop& set(int loop, space::Value value) {
    values_[static_cast<std::size_t>(loop)] = value;
    return *this;
  }
  std::string text() const;

 private:
  std::vector<space::Value> values_;
};

// Loops in their order: the second half of a basis of subgroups or lanes.
std::string loop_order(const problem::Operation& root);

// A translation_info; `options` is the inside of gpu_pipeline_options, "" for none.
std::string translation(std::string_view pipeline, space::Value threads, int subgroup,
                        std::string_view options);

// The values of a configuration by knob.
class Values {
 public:
  Values(const space::Space& space, const space::Configuration& configuration)
      : space_(space), configuration_(configuration) {}
  // 1 for a knob that is not there: the space is then another operation's, and its tiles are
  // refused.
  space::Value of(std::string_view knob) const {
    return space_.value(configuration_, knob).value_or(1);
  }

 private:
  const space::Space& space_;
  const space::Configuration& configuration_;
};

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
