#include "provider/iree/gpu/attention_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hone::iree::gpu {
namespace {

using problem::Operand;
using space::Expression;
using space::Value;

// Q (.., m, k1), K (.., k2, k1), V (.., k2, n), scale, result (.., m, n).
struct Parts {
  std::vector<int> batch;
  int m = -1, n = -1, k1 = -1, k2 = -1;
  MatrixInstruction instruction;
};

bool walks(const Operand& operand, int loop) {
  return std::ranges::count(operand.loops, loop) > 0;
}

std::optional<Parts> parts_of(const problem::Operation& root, const problem::GpuTarget& target) {
  if (root.kind != problem::OperationKind::kAttention || root.operands.size() != 5 ||
      target.backend != problem::GpuBackend::kCuda)
    return std::nullopt;
  const Operand &q = root.operands[0], &k = root.operands[1], &v = root.operands[2],
                &result = root.operands[4];
  Parts parts;
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
                  euclidean_mod(wg_m, subgroups * mma.m) == 0,
                  {subgroups, space::constant(mma.m), wg_m});
  // Rows of shared memory are padded by 64 bits against bank conflicts.
  const Expression memory = (share_q * wg_m * (k1 + kRowPadding) + red_k2 * (k1 + kRowPadding) +
                             red_k2 * (wg_n + kRowPadding)) *
                            bytes;
  builder.require("shared memory", "tiles of Q, K and V take {} of {} bytes",
                  memory <= space::constant(compilable_workgroup_memory(target)),
                  {memory, space::constant(compilable_workgroup_memory(target))});
  // Scores, probabilities and sums of a subgroup's rows are registers of its lanes.
  const Expression held = euclidean_div(wg_m * (red_k2 + wg_n), subgroups * lanes);
  builder.prefer("registers", "a thread with {} scores and sums, more than 192, spills",
                 held <= space::constant(192), {held});
  builder.prefer("scores are computed once or twice",
                 "a workgroup with {} columns of {} repeats the first product too often",
                 wg_n * 2 >= space::constant(size(root, parts->n)),
                 {wg_n, space::constant(size(root, parts->n))});
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
