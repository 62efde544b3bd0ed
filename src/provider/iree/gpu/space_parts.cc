#include "provider/iree/gpu/space_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/ranges.h"

namespace hone::iree::gpu {

using space::Value;

LoopsByRole loops_of(const problem::Operation& root) {
  using problem::LoopRole;
  return {loops_with(root, LoopRole::kBatch), loops_with(root, LoopRole::kM),
          loops_with(root, LoopRole::kN), loops_with(root, LoopRole::kK)};
}

Value size(const problem::Operation& root, int loop) {
  return root.loops[to_index(loop)].size;
}

bool is_open(const problem::Operation& root, int loop) {
  return root.loops[to_index(loop)].open;
}

bool is_innermost(const problem::Operand& operand, int loop) {
  return !operand.loops.empty() && operand.loops.back() == loop;
}

namespace {

std::vector<int> loops_that(const problem::Operation& root, bool reduce) {
  std::vector<int> found;
  for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop)
    if (root.loops[to_index(loop)].reduction == reduce) found.push_back(loop);
  return found;
}

}  // namespace

std::vector<int> reduction_loops(const problem::Operation& root) {
  return loops_that(root, true);
}

std::vector<int> parallel_loops(const problem::Operation& root) {
  return loops_that(root, false);
}

std::vector<Value> divisors(Value of, Value from, Value to) {
  std::vector<Value> found;
  for (Value each = from; each <= std::min(of, to); ++each)
    if (of % each == 0) found.push_back(each);
  return found;
}

std::vector<Value> powers_of_two(Value to) {
  std::vector<Value> found;
  for (Value each = 1; each <= to; each *= 2) found.push_back(each);
  return found;
}

std::vector<Value> tiles_of(const problem::Operation& root, int loop, bool padded, Value largest) {
  const bool open = is_open(root, loop);
  std::vector<Value> tiles = open ? std::vector<Value>() : divisors(size(root, loop), 1, largest);
  if (open || padded)
    for (const Value each : powers_of_two(largest)) tiles.push_back(each);
  if (open)
    for (const Value each : powers_of_two(largest / 3)) tiles.push_back(3 * each);
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return tiles;
}

std::vector<MatrixInstruction> instructions_for(const problem::Operation& root,
                                                const problem::GpuTarget& target) {
  if (root.operands.size() < 3 || root.operands[0].type.element != root.operands[1].type.element)
    return {};
  return matrix_instructions(target, root.operands[0].type.element,
                             root.operands.back().type.element);
}

std::string PerLoop::text() const {
  return fmt::format("[{}]", fmt::join(values_, ", "));
}

std::string loop_order(const problem::Operation& root) {
  std::vector<int> order(root.loops.size());
  std::iota(order.begin(), order.end(), 0);
  return fmt::format("[{}]", fmt::join(order, ", "));
}

std::string translation(std::string_view pipeline, Value threads, int subgroup,
                        std::string_view options) {
  const std::string configuration =
      options.empty()
          ? std::string()
          : fmt::format(", {{gpu_pipeline_options = #iree_gpu.pipeline_options<{}>}}", options);
  return fmt::format(
      "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<{}> workgroup_size = [{}, 1, "
      "1] subgroup_size = {}{}>",
      pipeline, threads, subgroup, configuration);
}

}  // namespace hone::iree::gpu
