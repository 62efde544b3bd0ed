// upgraded_decomposition() of configuration.h.
#include <string>

#include "provider/iree/spec_upgrade/configuration.h"
#include "provider/iree/spec_upgrade/schedule.h"

namespace hone::iree {
namespace {

// The configuration of one product of an attention.
struct AttentionPart {
  MlirFields fields;  // the dictionary
  MlirFields lowering;
  std::string intrinsic;

  explicit AttentionPart(const std::string& text) : fields(MlirFields::of(text)) {
    lowering = MlirFields::of(fields.value("lowering_config"));
    intrinsic = intrinsic_of(lowering.value("mma_kind"));
  }
  std::string to_text() {
    fields.set("lowering_config", "#iree_gpu.lowering_config<{" + lowering.to_text() + "}>");
    return "{" + fields.to_text() + "}";
  }
};

// Sets the subgroup_basis of both products from the counts of the second. Loops of an attention are
// the batch's, then m, n, k1 and k2.
void set_attention_basis(AttentionPart& qk, AttentionPart& pv, RootTiles& tiles,
                         UpgradedText& result) {
  constexpr std::size_t kLoops = 4;
  const auto first = schedule_in(qk.lowering, "mma_kind"),
             second = schedule_in(pv.lowering, "mma_kind");
  if (!first && !second) return;
  const auto shape = shape_of(pv.intrinsic);
  const std::size_t rank = tiles.workgroup.size();
  if (!first || !second || first->m_count != second->m_count || first->n_count != 1)
    return result.fail("subgroup counts of its two products that differ");
  if (!shape || rank < kLoops) return result.fail("no workgroup tiles for its subgroup counts");
  for (std::size_t loop = 0; loop < rank; ++loop)
    if ((loop >= rank - 2 && tiles.workgroup[loop] != 0) ||
        (loop + 1 < rank && loop < tiles.reduction.size() && tiles.reduction[loop] != 0))
      return result.fail(
          "tiles of an attention in another order of loops: today's are m, n, k1 and k2");
  const std::string kinds = std::string(rank - kLoops, 'B') + "MNKK";
  const Distribution distribution = distribution_of(kinds, tiles.workgroup, *second, *shape);
  if (!distribution.problem.empty()) return result.fail(distribution.problem);
  tiles.repeats = distribution.repeats;
  for (AttentionPart* const part : {&qk, &pv}) {
    part->lowering.remove("subgroup_m_count");
    part->lowering.remove("subgroup_n_count");
    part->lowering.set("subgroup_basis",
                       basis_text(distribution.counts, part == &qk ? rank - 3 : rank - 2));
  }
  result.changes.insert(UpgradeRule::kSubgroupBasis);
}

// Until 2026-03-04 the compiler transposed both products itself, where the result of the first
// fits the second then.
void set_column_major(AttentionPart& qk, AttentionPart& pv, UpgradedText& result) {
  if (!qk.fields.has("attention_qk_matmul") || !pv.fields.has("attention_pv_matmul")) return;
  qk.fields.remove("attention_qk_matmul");
  pv.fields.remove("attention_pv_matmul");
  result.changes.insert(UpgradeRule::kColumnMajor);
  const auto first = shape_of(qk.intrinsic), second = shape_of(pv.intrinsic);
  if (!first || !second || (*first)[0] != (*second)[0] || !reads_results_as_b(pv.intrinsic)) return;
  for (AttentionPart* const part : {&qk, &pv}) {
    std::string kind = part->lowering.value("mma_kind");
    if (kind.find("col_major") != std::string::npos) continue;
    part->lowering.set("mma_kind", kind.insert(kind.rfind('>'), ", col_major = true"));
  }
}

}  // namespace

UpgradedText upgraded_decomposition(const std::string& text, RootTiles& tiles) {
  UpgradedText result{text, {}, ""};
  MlirFields fields = MlirFields::of(text);
  AttentionPart qk(fields.value("qk_attrs")), pv(fields.value("pv_attrs"));
  set_attention_basis(qk, pv, tiles, result);
  set_column_major(qk, pv, result);
  if (!result.problem.empty() || result.changes.empty()) return result;
  fields.set("qk_attrs", qk.to_text());
  fields.set("pv_attrs", pv.to_text());
  result.text = "{" + fields.to_text() + "}";
  return result;
}

}  // namespace hone::iree
