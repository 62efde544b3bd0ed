#include <fmt/format.h>

#include <algorithm>

#include "provider/iree/gpu/space_parts.h"

namespace hone::iree::gpu {
namespace {

using problem::OperationKind;
using space::Expression;
using space::Value;

// The innermost reduction loop where it is the last one and rows lie in memory one after the
// other; else -1.
int row_loop(const problem::Operation& root) {
  if (root.loops.size() < 2 || !root.loops.back().reduction || root.operands.empty()) return -1;
  const int last = static_cast<int>(root.loops.size()) - 1;
  return is_innermost(root.operands.front(), last) && !parallel_loops(root).empty() ? last : -1;
}

Value element_bits(const problem::Operation& root) {
  return 8 * problem::byte_size(root.operands.front().type.element);
}

std::vector<Value> lane_choices(const problem::GpuTarget& target) {
  const Value all = target.subgroup_sizes.front();
  return {all, all / 2, all / 4, all / 8};
}

}  // namespace

bool goes_along_rows(const problem::Operation& root, const problem::GpuTarget& target) {
  const bool rows = root.kind == OperationKind::kReduction || root.kind == OperationKind::kMatvec ||
                    root.name == "linalg.softmax";
  const int row = rows ? row_loop(root) : -1;
  return row >= 0 && size(root, row) > 0 &&
         (is_open(root, row) || size(root, row) % lane_choices(target).back() == 0);
}

Result<space::Space> row_space(const problem::Operation& root, const problem::GpuTarget& target) {
  const int row = row_loop(root);
  constexpr Value kMaximumRows = 32, kLoadBits = 128, kHeldElements = 64;
  const Value length = size(root, row), all_lanes = target.subgroup_sizes.front();
  space::SpaceBuilder builder;
  const Expression rows = builder.knob(
      "rows", "of one workgroup", tiles_of(root, parallel_loops(root).back(), false, kMaximumRows));
  const Expression beside = builder.knob("row_subgroups", "that have rows of their own",
                                         powers_of_two(target.max_threads / all_lanes));
  const Expression subgroups =
      builder.knob("subgroups", "that share a row", powers_of_two(target.max_threads / all_lanes));
  const Expression lanes =
      builder.knob("lanes", "of a subgroup that share a row", lane_choices(target));
  const Expression vector =
      builder.knob("vector", "elements of one load", powers_of_two(kLoadBits / element_bits(root)));
  const Expression steps = builder.knob("steps", "loads per thread and iteration", {1, 2, 4, 8});
  const Expression at_once = beside * euclidean_div(all_lanes, lanes);
  if (!is_open(root, row))
    builder.require("row is whole iterations",
                    "subgroups * lanes * vector * steps elements divide the row of {}",
                    euclidean_mod(length, subgroups * lanes * vector * steps) == 0, {length});
  builder.require("rows are whole subgroups",
                  "{} rows are shared evenly by threads for {} rows at once",
                  euclidean_mod(rows, at_once) == 0, {rows, at_once});
  builder.require(
      "lanes add up the subgroups",
      "the sums of {} subgroups are added up by the {} lanes of a row; those beyond are "
      "left out without a word",
      subgroups <= lanes, {subgroups, lanes});
  // The last rows, where they fill no tile, are computed wrong; a softmax pads them.
  if (is_open(root, parallel_loops(root).back()) && root.name != "linalg.softmax")
    builder.require("rows of an open extent one by one",
                    "{} rows may not divide an extent that is known at run time only", rows == 1,
                    {rows});
  builder.require("threads", "a workgroup has at most {} threads",
                  beside * subgroups * all_lanes <= target.max_threads, {target.max_threads});
  builder.prefer("registers", "a thread that holds {} elements or fewer does not spill",
                 euclidean_div(rows, at_once) * vector * steps <= kHeldElements, {kHeldElements});
  return builder.build();
}

Result<Attributes> row_attributes(const problem::Operation& root, const problem::GpuTarget& target,
                                  const Values& values) {
  const int row = row_loop(root), across = parallel_loops(root).back();
  const int all_lanes = target.subgroup_sizes.front();
  const Value subgroups = values.of("subgroups"), beside = values.of("row_subgroups");
  const Value lanes = values.of("lanes"), vector = values.of("vector");
  const std::string order = loop_order(root);
  const std::string layout = fmt::format(
      "lane_basis = [{}, {}], subgroup_basis = [{}, {}], thread = {}",
      PerLoop(root, 1).set(row, lanes).set(across, all_lanes / std::max<Value>(1, lanes)).text(),
      order, PerLoop(root, 1).set(row, subgroups).set(across, beside).text(), order,
      PerLoop(root).set(row, vector).text());
  PerLoop tile(root), step(root), serial(root);
  for (const int loop : parallel_loops(root)) tile.set(loop, 1);
  for (const int loop : reduction_loops(root)) step.set(loop, 1);
  tile.set(across, values.of("rows"));
  const Value at_once = subgroups * lanes * vector * values.of("steps");
  step.set(row, at_once);
  serial.set(row, at_once);
  Attributes attributes;
  attributes.lowering_config =
      fmt::format("#iree_gpu.lowering_config<{{partial_reduction = {}, workgroup = {}, {}}}>",
                  step.text(), tile.text(), layout);
  attributes.sibling_reduction_config =
      fmt::format("#iree_gpu.lowering_config<{{partial_reduction = {}, {}}}>", step.text(), layout);
  attributes.sibling_config =
      fmt::format("#iree_gpu.lowering_config<{{serial = {}, {}}}>", serial.text(), layout);
  attributes.translation_info =
      translation("VectorDistribute", beside * subgroups * all_lanes, all_lanes,
                  "no_reduce_shared_memory_bank_conflicts = false, use_igemm_convolution = false");
  return attributes;
}

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
  Expression last = 1;
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
                 outputs <= threads * kHeldElements, {kHeldElements});
  if (transposed_operand(root) >= 0) {
    const Value bytes = widest_bits(root) / 8;
    builder.require("shared memory", "the tile fits in {} bytes",
                    outputs * bytes <= compilable_workgroup_memory(target),
                    {compilable_workgroup_memory(target)});
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
