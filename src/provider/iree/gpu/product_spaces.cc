#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "provider/iree/gpu/space_parts.h"

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
  const LoopsByRole loops = loops_of(root);
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
  const LoopsByRole loops = loops_of(root);
  return (root.kind == OperationKind::kMatmul || root.kind == OperationKind::kBatchMatmul) &&
         loops.m.size() == 1 && loops.n.size() == 1 && loops.k.size() == 1;
}

bool has_open_k(const problem::Operation& root) {
  return is_matrix_product(root) && is_open(root, loops_of(root).k[0]);
}

Result<space::Space> instruction_space(const problem::Operation& root,
                                       const problem::GpuTarget& target) {
  const LoopsByRole loops = loops_of(root);
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
                   euclidean_mod(k, red_k * mma_k) == 0 || euclidean_mod(k, mma_k) != 0);
  else if (!padded)
    builder.require("k is whole steps", "red_k times the instruction's k divides k",
                    euclidean_mod(k, red_k * mma_k) == 0);
  builder.require("threads", "a workgroup has at most {} threads",
                  m_count * n_count * target.subgroup_sizes.front() <= target.max_threads,
                  {target.max_threads});
  const Value out_bytes = problem::byte_size(root.operands.back().type.element);
  const Expression inputs = (wg_m + wg_n) * red_k * mma_k * bytes;
  builder.require(
      "shared memory",
      padded ? "both tiles of a step, and the padded one of the result, fit in {} bytes"
             : "both tiles of a step fit in {} bytes",
      (padded ? inputs + wg_m * wg_n * out_bytes : inputs) <= compilable_workgroup_memory(target),
      {compilable_workgroup_memory(target)});
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
  const LoopsByRole loops = loops_of(root);
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
  const LoopsByRole loops = loops_of(root);
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
                  euclidean_mod(threads, target.subgroup_sizes.front()) == 0, {threads});
  builder.require("threads", "a workgroup has at most {} threads", threads <= target.max_threads,
                  {target.max_threads});
  builder.prefer("registers", "a thread's tile beyond 64 elements spills",
                 th_m * th_n <= kMaximumThreadTile);
  return builder.build();
}

Result<Attributes> thread_attributes(const problem::Operation& root,
                                     const problem::GpuTarget& target, const Values& values) {
  const LoopsByRole loops = loops_of(root);
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

namespace {

using problem::Operand;
using space::Expression;
using space::Value;

// Q (.., m, k1), K (.., k2, k1), V (.., k2, n), scale, result (.., m, n).
struct AttentionParts {
  std::vector<int> batch;
  int m = -1, n = -1, k1 = -1, k2 = -1;
  MatrixInstruction instruction;
};

bool walks(const Operand& operand, int loop) {
  return std::ranges::count(operand.loops, loop) > 0;
}

std::optional<AttentionParts> parts_of(const problem::Operation& root,
                                       const problem::GpuTarget& target) {
  if (root.kind != problem::OperationKind::kAttention || root.operands.size() != 5 ||
      target.backend != problem::GpuBackend::kCuda)
    return std::nullopt;
  const Operand &q = root.operands[0], &k = root.operands[1], &v = root.operands[2],
                &result = root.operands[4];
  AttentionParts parts;
  for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop) {
    if (size(root, loop) <= 0) return std::nullopt;
    int* place = nullptr;
    if (!walks(q, loop)) place = walks(result, loop) ? &parts.n : &parts.k2;
    if (walks(q, loop) && !walks(k, loop)) place = &parts.m;
    if (walks(q, loop) && walks(k, loop) && !walks(result, loop)) place = &parts.k1;
    if (place == nullptr) {
      parts.batch.push_back(loop);
      continue;
    }
    if (*place >= 0) return std::nullopt;
    *place = loop;
  }
  if (parts.m < 0 || parts.n < 0 || parts.k1 < 0 || parts.k2 < 0) return std::nullopt;
  if (!is_innermost(q, parts.k1) || !is_innermost(k, parts.k1) || !is_innermost(v, parts.n))
    return std::nullopt;
  const auto instructions = matrix_instructions(target, q.type.element, problem::ElementType::kF32);
  if (instructions.empty()) return std::nullopt;
  parts.instruction = instructions.front();
  const MatrixInstruction& mma = parts.instruction;
  const bool whole = size(root, parts.m) % mma.m == 0 && size(root, parts.n) % mma.n == 0 &&
                     size(root, parts.k1) % mma.k == 0 && size(root, parts.k2) % mma.k == 0;
  return whole ? std::optional(parts) : std::nullopt;
}

}  // namespace

bool is_known_attention(const problem::Operation& root, const problem::GpuTarget& target) {
  return !has_open_sizes(root) && parts_of(root, target).has_value();
}

Result<space::Space> attention_space(const problem::Operation& root,
                                     const problem::GpuTarget& target) {
  const auto parts = parts_of(root, target);
  if (!parts) return input_error("hone has no space for this attention");
  const MatrixInstruction& mma = parts->instruction;
  const auto multiples = [&](int loop, Value of, Value to) {
    std::vector<Value> kept = divisors(size(root, loop), of, to);
    kept.erase(std::remove_if(kept.begin(), kept.end(), [&](Value each) { return each % of != 0; }),
               kept.end());
    return kept;
  };
  constexpr Value kMaximumTile = 512, kMaximumStep = 256, kRowPadding = 4;
  const Value bytes = problem::byte_size(root.operands[0].type.element);
  const Value lanes = target.subgroup_sizes.front(), k1 = size(root, parts->k1);
  space::SpaceBuilder builder;
  const Expression wg_m =
      builder.knob("wg_m", "queries of a workgroup", multiples(parts->m, mma.m, kMaximumTile));
  const Expression wg_n = builder.knob("wg_n", "columns of the result of a workgroup",
                                       multiples(parts->n, mma.n, kMaximumTile));
  const Expression red_k2 =
      builder.knob("red_k2", "keys per step", multiples(parts->k2, mma.k, kMaximumStep));
  const Expression subgroups = builder.knob("subgroups", "that share the queries",
                                            powers_of_two(target.max_threads / lanes));
  const Expression share_q = builder.knob(
      "share_q", "Q goes through shared memory: 1; each subgroup loads its rows: 0", {1, 0});
  builder.require("queries are whole instructions",
                  "{} subgroups have whole instructions of {} of the {} queries",
                  euclidean_mod(wg_m, subgroups * mma.m) == 0, {subgroups, mma.m, wg_m});
  // Rows of shared memory are padded by 64 bits against bank conflicts.
  const Expression memory = (share_q * wg_m * (k1 + kRowPadding) + red_k2 * (k1 + kRowPadding) +
                             red_k2 * (wg_n + kRowPadding)) *
                            bytes;
  builder.require("shared memory", "tiles of Q, K and V take {} of {} bytes",
                  memory <= compilable_workgroup_memory(target),
                  {memory, compilable_workgroup_memory(target)});
  // Scores, probabilities and sums of a subgroup's rows are registers of its lanes.
  const Expression held = euclidean_div(wg_m * (red_k2 + wg_n), subgroups * lanes);
  builder.prefer("registers", "a thread with {} scores and sums, more than 192, spills",
                 held <= 192, {held});
  builder.prefer("scores are computed once or twice",
                 "a workgroup with {} columns of {} repeats the first product too often",
                 wg_n * 2 >= size(root, parts->n), {wg_n, size(root, parts->n)});
  return builder.build();
}

Result<Attributes> attention_attributes(const problem::Operation& root,
                                        const problem::GpuTarget& target, const Values& values) {
  const auto parts = parts_of(root, target);
  if (!parts) return Attributes();
  constexpr std::string_view kDerived = "#iree_gpu.derived_thread_config";
  const Value subgroups = values.of("subgroups");
  // Loops of each product beside the batch: m, k1, k2 for the scores and m, n, k2 for the result.
  const auto basis = [&](int left_out) {
    std::vector<int> loops;
    for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop)
      if (loop != left_out) loops.push_back(loop);
    return fmt::format("subgroup_basis = [{}, [{}]]",
                       PerLoop(root, 1).set(parts->m, subgroups).text(), fmt::join(loops, ", "));
  };
  const auto product = [&](std::string_view promoted, std::string_view types, int left_out) {
    return fmt::format(
        "{{lowering_config = #iree_gpu.lowering_config<{{mma_kind = #iree_gpu.mma_layout<{}>, "
        "promote_operands = [{}], promotion_types = [{}], {}}}>}}",
        parts->instruction.name, promoted, types, basis(left_out));
  };
  const std::string both = fmt::format("{0}, {0}", kDerived);
  const bool share_q = values.of("share_q") != 0;
  PerLoop tile(root), step(root);
  for (const int loop : parts->batch) tile.set(loop, 1);
  tile.set(parts->m, values.of("wg_m")).set(parts->n, values.of("wg_n"));
  step.set(parts->k2, values.of("red_k2"));
  Attributes attributes;
  attributes.lowering_config = fmt::format(
      "#iree_gpu.lowering_config<{{promote_operands = [0, 1, 2], promotion_types = [{0}, {0}, "
      "{0}], reduction = {1}, workgroup = {2}}}>",
      kDerived, step.text(), tile.text());
  attributes.decomposition_config = fmt::format(
      "{{pv_attrs = {}, qk_attrs = {}}}", product("1", kDerived, parts->k1),
      product(share_q ? "0, 1" : "1", share_q ? both : std::string(kDerived), parts->n));
  // Flush denormals, as the compiler's default does: a denormal probability is negligible beside
  // the largest, which is 1.
  attributes.translation_info = fmt::format(
      "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> "
      "workgroup_size = [{}, 1, 1] subgroup_size = {}, {{iree_codegen.denormal_fp_math_f32 = "
      "#iree_codegen.denormal_fp_math<\"preserve-sign\">}}>",
      subgroups * target.subgroup_sizes.front(), target.subgroup_sizes.front());
  return attributes;
}

}  // namespace hone::iree::gpu
