#include "provider/iree/gpu/row_space.h"

#include <fmt/format.h>

#include <algorithm>

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
  const Expression at_once = beside * euclidean_div(space::constant(all_lanes), lanes);
  if (!is_open(root, row))
    builder.require("row is whole iterations",
                    "subgroups * lanes * vector * steps elements divide the row of {}",
                    euclidean_mod(space::constant(length), subgroups * lanes * vector * steps) == 0,
                    {space::constant(length)});
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
                  beside * subgroups * all_lanes <= space::constant(target.max_threads),
                  {space::constant(target.max_threads)});
  builder.prefer("registers", "a thread that holds {} elements or fewer does not spill",
                 euclidean_div(rows, at_once) * vector * steps <= space::constant(kHeldElements),
                 {space::constant(kHeldElements)});
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

}  // namespace hone::iree::gpu
