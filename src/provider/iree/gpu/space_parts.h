// Building blocks of hone's own spaces for GPUs (space.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/operation.h"
#include "problem/target.h"
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

}  // namespace hone::iree::gpu
