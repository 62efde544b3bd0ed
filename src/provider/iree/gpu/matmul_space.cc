#include "provider/iree/gpu/matmul_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::iree::gpu {
namespace {

using problem::OperationKind;
using space::Expression;
using space::Value;

PerLoop workgroup_tile(const problem::Operation& root) {
  PerLoop tile(root);
  for (const int loop : loops_of(root).batch) tile.set(loop, 1);
  return tile;
}

// Whether some extent is no whole number of some matrix instruction, or open.
bool is_padded(const problem::Operation& root, const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  const auto rest = [&](int loop, int of) {
    return is_open(root, loop) || size(root, loop) % of != 0;
  };
  const auto instructions = instructions_for(root, target);
  return std::ranges::any_of(instructions, [&](const auto& mma) {
    return rest(loops.m[0], mma.m) || rest(loops.n[0], mma.n) || rest(loops.k[0], mma.k);
  });
}

}  // namespace

bool is_matrix_product(const problem::Operation& root) {
  const Loops loops = loops_of(root);
  return (root.kind == OperationKind::kMatmul || root.kind == OperationKind::kBatchMatmul) &&
         loops.m.size() == 1 && loops.n.size() == 1 && loops.k.size() == 1;
}

bool has_open_k(const problem::Operation& root) {
  return is_matrix_product(root) && is_open(root, loops_of(root).k[0]);
}

Result<space::Space> instruction_space(const problem::Operation& root,
                                       const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  const Value k = size(root, loops.k[0]);
  const Value bytes = problem::byte_size(root.operands[0].type.element);
  const bool padded = is_padded(root, target);
  std::vector<Value> choices, ms, ns, ks;
  std::vector<std::string> names;
  for (const MatrixInstruction& each : instructions_for(root, target)) {
    names.push_back(fmt::format("{}: {}", choices.size(), each.name));
    choices.push_back(static_cast<Value>(choices.size()));
    ms.push_back(each.m);
    ns.push_back(each.n);
    ks.push_back(each.k);
  }
  constexpr Value kMaximumTile = 512, kSubgroups = 32;
  space::SpaceBuilder builder;
  const Expression mma = builder.knob("mma", fmt::format("{}", fmt::join(names, ", ")), choices);
  const Expression wg_m =
      builder.knob("wg_m", "rows of a workgroup", tiles_of(root, loops.m[0], padded, kMaximumTile));
  const Expression wg_n = builder.knob("wg_n", "columns of a workgroup",
                                       tiles_of(root, loops.n[0], padded, kMaximumTile));
  const Expression sg_m =
      builder.knob_range("sg_m", "instructions of a subgroup along m", 1, kMaximumTile / 8);
  const Expression sg_n =
      builder.knob_range("sg_n", "instructions of a subgroup along n", 1, kMaximumTile / 8);
  const Expression red_k =
      builder.knob_range("red_k", "instructions along k per step", 1, kMaximumTile / 4);
  const Expression m_count = builder.auxiliary("subgroups_m", 1, kSubgroups);
  const Expression n_count = builder.auxiliary("subgroups_n", 1, kSubgroups);
  const Expression mma_m = lookup(mma, choices, ms), mma_n = lookup(mma, choices, ns),
                   mma_k = lookup(mma, choices, ks);
  builder.require("wg_m is whole subgroups", "wg_m == sg_m * subgroups * rows of the instruction",
                  wg_m == sg_m * m_count * mma_m);
  builder.require("wg_n is whole subgroups",
                  "wg_n == sg_n * subgroups * columns of the instruction",
                  wg_n == sg_n * n_count * mma_n);
  if (padded)
    builder.prefer("few padded steps of k", "a step that does not divide k computes on padding",
                   euclidean_mod(space::constant(k), red_k * mma_k) == 0 ||
                       euclidean_mod(space::constant(k), mma_k) != 0);
  else if (!padded)
    builder.require("k is whole steps", "red_k times the instruction's k divides k",
                    euclidean_mod(space::constant(k), red_k * mma_k) == 0);
  builder.require(
      "threads", "a workgroup has at most {} threads",
      m_count * n_count * target.subgroup_sizes.front() <= space::constant(target.max_threads),
      {space::constant(target.max_threads)});
  const Value out_bytes = problem::byte_size(root.operands.back().type.element);
  const Expression inputs = (wg_m + wg_n) * red_k * mma_k * bytes;
  builder.require("shared memory",
                  padded ? "both tiles of a step, and the padded one of the result, fit in {} bytes"
                         : "both tiles of a step fit in {} bytes",
                  (padded ? inputs + wg_m * wg_n * out_bytes : inputs) <=
                      space::constant(compilable_workgroup_memory(target)),
                  {space::constant(compilable_workgroup_memory(target))});
  builder.prefer("few subgroups", "more than 10 subgroups leave each few registers",
                 m_count * n_count <= 10);
  builder.prefer("step of k", "a step beyond 512 elements holds too many registers",
                 red_k * mma_k <= kMaximumTile);
  return builder.build();
}

Result<Attributes> instruction_attributes(const problem::Operation& root,
                                          const problem::GpuTarget& target, const Values& values) {
  const auto instructions = instructions_for(root, target);
  const auto mma = static_cast<std::size_t>(values.of("mma"));
  if (mma >= instructions.size()) return input_error("mma = {} is no matrix instruction", mma);
  const MatrixInstruction& chosen = instructions[mma];
  const Loops loops = loops_of(root);
  const int lanes = target.subgroup_sizes.front();
  const Value wg_m = values.of("wg_m"), wg_n = values.of("wg_n");
  const Value sg_m = values.of("sg_m"), sg_n = values.of("sg_n");
  const Value subgroups = wg_m / (sg_m * chosen.m) * (wg_n / (sg_n * chosen.n));
  Attributes attributes;
  const bool padded = is_padded(root, target);
  std::string padding;
  if (padded)
    padding = fmt::format("padding = {}, ", workgroup_tile(root)
                                                .set(loops.m[0], wg_m)
                                                .set(loops.n[0], wg_n)
                                                .set(loops.k[0], values.of("red_k") * chosen.k)
                                                .text());
  attributes.lowering_config = fmt::format(
      "#iree_gpu.lowering_config<{{mma_kind = #iree_gpu.mma_layout<{}>, {}promote_operands = [{}], "
      "reduction = {}, subgroup = {}, workgroup = {}}}>",
      chosen.name, padding, padded ? "0, 1, 2" : "0, 1",
      PerLoop(root).set(loops.k[0], values.of("red_k")).text(),
      PerLoop(root).set(loops.m[0], sg_m).set(loops.n[0], sg_n).text(),
      workgroup_tile(root).set(loops.m[0], wg_m).set(loops.n[0], wg_n).text());
  attributes.translation_info =
      translation("TileAndFuse", subgroups * lanes, lanes,
                  "prefetch_num_stages = 2, no_reduce_shared_memory_bank_conflicts = false, "
                  "use_igemm_convolution = false");
  return attributes;
}

Result<space::Space> thread_space(const problem::Operation& root,
                                  const problem::GpuTarget& target) {
  const Loops loops = loops_of(root);
  constexpr Value kMaximumTile = 256, kMaximumStep = 64, kMaximumThreadTile = 64;
  space::SpaceBuilder builder;
  const Expression wg_m =
      builder.knob("wg_m", "rows of a workgroup", tiles_of(root, loops.m[0], false, kMaximumTile));
  const Expression wg_n = builder.knob("wg_n", "columns of a workgroup",
                                       tiles_of(root, loops.n[0], false, kMaximumTile));
  const Expression th_m = builder.knob("th_m", "rows of a thread", powers_of_two(16));
  const Expression th_n = builder.knob("th_n", "columns of a thread", powers_of_two(16));
  builder.knob("red_k", "steps of k", tiles_of(root, loops.k[0], false, kMaximumStep));
  builder.require("threads divide the tile", "wg_m is whole th_m and wg_n whole th_n",
                  euclidean_mod(wg_m, th_m) == 0 && euclidean_mod(wg_n, th_n) == 0);
  const Expression threads = euclidean_div(wg_m, th_m) * euclidean_div(wg_n, th_n);
  builder.require("whole subgroups", "{} threads are whole subgroups",
                  euclidean_mod(threads, space::constant(target.subgroup_sizes.front())) == 0,
                  {threads});
  builder.require("threads", "a workgroup has at most {} threads",
                  threads <= space::constant(target.max_threads),
                  {space::constant(target.max_threads)});
  builder.prefer("registers", "a thread's tile beyond 64 elements spills",
                 th_m * th_n <= space::constant(kMaximumThreadTile));
  return builder.build();
}

Result<Attributes> thread_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values) {
  const Loops loops = loops_of(root);
  const Value wg_m = values.of("wg_m"), wg_n = values.of("wg_n");
  const Value th_m = values.of("th_m"), th_n = values.of("th_n");
  Attributes attributes;
  attributes.lowering_config =
      fmt::format("#iree_gpu.lowering_config<{{reduction = {}, thread = {}, workgroup = {}}}>",
                  PerLoop(root).set(loops.k[0], values.of("red_k")).text(),
                  PerLoop(root).set(loops.m[0], th_m).set(loops.n[0], th_n).text(),
                  workgroup_tile(root).set(loops.m[0], wg_m).set(loops.n[0], wg_n).text());
  attributes.translation_info =
      translation("TileAndFuse", wg_m / th_m * (wg_n / th_n), target.subgroup_sizes.front(),
                  "no_reduce_shared_memory_bank_conflicts = true, use_igemm_convolution = false");
  return attributes;
}

}  // namespace hone::iree::gpu
