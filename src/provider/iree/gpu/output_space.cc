#include "provider/iree/gpu/output_space.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::iree::gpu {
namespace {

using problem::OperationKind;
using space::Expression;
using space::Value;

// Loops that get tiles: the last parallel one, which threads divide into vectors, and the parallel
// ones that some operand has innermost.
std::vector<int> tiled_loops(const problem::Operation& root) {
  const std::vector<int> parallel = parallel_loops(root);
  std::vector<int> tiled;
  for (const int loop : parallel) {
    const bool innermost = std::ranges::any_of(root.operands, [&](const problem::Operand& operand) {
      return is_innermost(operand, loop);
    });
    // The loop before the last is tiled too: a workgroup may take several rows.
    if (innermost || loop == parallel.back() ||
        (parallel.size() > 1 && loop == parallel[parallel.size() - 2]))
      tiled.push_back(loop);
  }
  return tiled;
}

// The operand that has another loop innermost than the last one, and the last one too; -1: none.
int transposed_operand(const problem::Operation& root) {
  if (!reduction_loops(root).empty()) return -1;
  const int last = parallel_loops(root).back();
  for (int i = static_cast<int>(root.operands.size()); i-- > 0;) {
    const problem::Operand& operand = root.operands[static_cast<std::size_t>(i)];
    const auto& loops = operand.loops;
    if (!is_innermost(operand, last) && std::ranges::count(loops, last) > 0) return i;
  }
  return -1;
}

std::string tile_name(int loop) {
  return fmt::format("wg_{}", loop);
}
std::string step_name(int loop) {
  return fmt::format("red_{}", loop);
}

Value widest_bits(const problem::Operation& root) {
  Value bits = 8;
  for (const problem::Operand& operand : root.operands)
    bits = std::max<Value>(bits, 8 * problem::byte_size(operand.type.element));
  return bits;
}

}  // namespace

bool goes_by_outputs(const problem::Operation& root) {
  if (root.kind != OperationKind::kElementwise && root.kind != OperationKind::kReduction &&
      root.kind != OperationKind::kMatvec && root.name != "linalg.softmax")
    return false;
  const bool maps = std::ranges::all_of(
      root.operands, [](const auto& each) { return std::ranges::count(each.loops, -1) == 0; });
  return maps && !parallel_loops(root).empty() && !is_dynamic(root);
}

Result<space::Space> output_space(const problem::Operation& root,
                                  const problem::GpuTarget& target) {
  constexpr Value kMaximumTile = 1024, kMaximumStep = 64, kLoadBits = 128, kHeldElements = 64;
  const Value lanes = target.subgroup_sizes.front();
  space::SpaceBuilder builder;
  std::vector<Expression> tile;
  Expression last = space::constant(1);
  for (const int loop : tiled_loops(root)) {
    tile.push_back(builder.knob(tile_name(loop), fmt::format("of loop {} in a workgroup", loop),
                                tiles_of(root, loop, false, kMaximumTile)));
    last = tile.back();
  }
  // The result may be narrower than what is read: 8 halves of it are 16 bytes.
  const Expression vector = builder.knob("vector", "outputs of one thread at once",
                                         powers_of_two(2 * kLoadBits / widest_bits(root)));
  std::vector<Value> subgroups;
  for (Value threads = lanes; threads <= target.max_threads; threads *= 2)
    subgroups.push_back(threads);
  const Expression threads = builder.knob("threads", "of a workgroup", subgroups);
  for (const int loop : reduction_loops(root))
    builder.knob(step_name(loop), fmt::format("steps of loop {}", loop),
                 tiles_of(root, loop, false, kMaximumStep));
  if (transposed_operand(root) >= 0)
    builder.knob("promote", "the transposed operand goes through shared memory", {1, 0});

  const Expression outputs = space::product_of(tile);
  builder.require("vectors divide the tile", "{} of the last loop are whole vectors of {}",
                  euclidean_mod(last, vector) == 0, {last, vector});
  builder.require("threads share the tile", "{} outputs are whole vectors of {} for {} threads",
                  euclidean_mod(outputs, threads * vector) == 0, {outputs, vector, threads});
  builder.prefer("work of a thread", "a thread with {} outputs or fewer does not spill",
                 outputs <= threads * kHeldElements, {space::constant(kHeldElements)});
  if (transposed_operand(root) >= 0) {
    const Value bytes = widest_bits(root) / 8;
    builder.require(
        "shared memory", "the tile fits in {} bytes",
        outputs * space::constant(bytes) <= space::constant(compilable_workgroup_memory(target)),
        {space::constant(compilable_workgroup_memory(target))});
  }
  return builder.build();
}

Result<Attributes> output_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values) {
  PerLoop tile(root), thread(root), step(root);
  for (const int loop : parallel_loops(root)) {
    tile.set(loop, 1);
    thread.set(loop, 1);
  }
  for (const int loop : tiled_loops(root)) tile.set(loop, values.of(tile_name(loop)));
  thread.set(parallel_loops(root).back(), values.of("vector"));
  std::string parts = fmt::format("thread = {}, workgroup = {}", thread.text(), tile.text());
  if (!reduction_loops(root).empty()) {
    for (const int loop : reduction_loops(root)) step.set(loop, values.of(step_name(loop)));
    parts = fmt::format("reduction = {}, {}", step.text(), parts);
  }
  if (const int operand = transposed_operand(root); operand >= 0 && values.of("promote") == 1)
    parts = fmt::format("promote_operands = [{}], {}", operand, parts);
  Attributes attributes;
  attributes.lowering_config = fmt::format("#iree_gpu.lowering_config<{{{}}}>", parts);
  attributes.translation_info =
      translation("TileAndFuse", values.of("threads"), target.subgroup_sizes.front(),
                  "no_reduce_shared_memory_bank_conflicts = false, use_igemm_convolution = false");
  return attributes;
}

}  // namespace hone::iree::gpu
