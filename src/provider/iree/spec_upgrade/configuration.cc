#include "provider/iree/spec_upgrade/configuration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>
#include <vector>

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

constexpr std::string_view kVectorDistribute = "#iree_gpu.pipeline<VectorDistribute>";

// "4" or "4 : i64"; nullopt for anything else.
std::optional<long> integer_of(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::string list_of(const std::vector<long>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

// The name in "#iree_gpu.mma_layout<MFMA_F32_16x16x16_F16, col_major = true>".
std::string intrinsic_of(const std::string& layout) {
  const MlirFields fields = MlirFields::of(layout);
  return fields.all().empty() ? "" : fields.all().front().key;
}

// Extents m, n and k of an intrinsic by its name. The text's digits and words are tokens of their
// own: "MFMA_F32_16x16x16_F16" is one word.
std::optional<std::array<long, 3>> shape_of(const std::string& intrinsic) {
  std::size_t from = 0;
  while (from < intrinsic.size()) {
    const std::size_t end = std::min(intrinsic.find('_', from), intrinsic.size());
    std::array<long, 3> shape = {};
    std::size_t count = 0;
    const char* at = intrinsic.data() + from;
    const char* const last = intrinsic.data() + end;
    while (count < shape.size()) {
      const auto [next, error] = std::from_chars(at, last, shape[count]);
      if (error != std::errc()) break;
      at = next;
      if (++count < shape.size() && (at == last || *at++ != 'x')) break;
    }
    if (count == shape.size() && at == last) return shape;
    from = end + 1;
  }
  return std::nullopt;
}

void add(UpgradedText& to, const UpgradedText& part) {
  to.changes.insert(part.changes.begin(), part.changes.end());
  if (!part.problem.empty()) to.fail(part.problem);
}

// The schedule of matrix instructions of an entry, wherever it stands.
struct Schedule {
  std::string layout;  // of the intrinsic
  long m_count = 1, n_count = 1;
  std::optional<long> m_tiles, n_tiles, k_tiles;  // until 2024-04-29
};

std::optional<Schedule> schedule_in(const MlirFields& fields, const std::string& layout_key) {
  const auto m = integer_of(fields.value("subgroup_m_count")),
             n = integer_of(fields.value("subgroup_n_count"));
  if (!m || !n) return std::nullopt;
  return Schedule{fields.value(layout_key),
                  *m,
                  *n,
                  integer_of(fields.value("subgroup_m_tile_count")),
                  integer_of(fields.value("subgroup_n_tile_count")),
                  integer_of(fields.value("subgroup_k_tile_count"))};
}

// Subgroups on each loop, as the compilers up to 2025-09-08 distributed the counts: loop by loop,
// on each as many as divide its tiles. The rest repeated the work of others.
struct Distribution {
  std::vector<long> counts;
  long repeats = 1;
  std::string problem;

  void fail(std::string reason) {
    if (problem.empty()) problem = std::move(reason);
  }
};

void distribute(const std::string& kinds, char kind, const std::vector<long>& tiles, long count,
                long extent, Distribution& distribution) {
  const auto last = kinds.rfind(kind);
  for (std::size_t loop = 0; last != std::string::npos && loop <= last; ++loop) {
    if (kinds[loop] != kind) continue;
    const long tile = tiles[loop], unit = loop == last ? extent : 1;
    if (tile == 0 && count != 1)
      distribution.fail(
          fmt::format("{} subgroups along loop {}, which it does not tile", count, loop));
    if (tile % unit != 0)
      distribution.fail(
          fmt::format("tile {} of loop {} is no multiple of the intrinsic's {}", tile, loop, unit));
    distribution.counts[loop] = tile == 0 ? 1 : std::gcd(count, tile / unit);
    count /= std::max(distribution.counts[loop], 1L);
  }
  distribution.repeats *= count;
}

Distribution distribution_of(const std::string& kinds, const std::vector<long>& tiles,
                             const Schedule& schedule, const std::array<long, 3>& shape) {
  Distribution distribution;
  distribution.counts.assign(kinds.size(), 1);
  for (std::size_t loop = 0; loop < kinds.size(); ++loop)
    if (kinds[loop] == 'B' && tiles[loop] > 1)
      distribution.fail(
          fmt::format("tile {} of loop {}, which is of both operands", tiles[loop], loop));
  distribute(kinds, 'M', tiles, schedule.m_count, shape[0], distribution);
  distribute(kinds, 'N', tiles, schedule.n_count, shape[1], distribution);
  return distribution;
}

std::string basis_text(const std::vector<long>& counts, std::optional<std::size_t> without = {}) {
  std::vector<long> mapping;
  for (std::size_t loop = 0; loop < counts.size(); ++loop)
    if (loop != without) mapping.push_back(static_cast<long>(loop));
  return fmt::format("[{}, {}]", list_of(counts), list_of(mapping));
}

long product_of(const std::vector<long>& values) {
  return std::accumulate(values.begin(), values.end(), 1L, std::multiplies<>());
}

// The parts of a translation_info of any date.
struct Translation {
  std::string pipeline, codegen_spec, workgroup_size, subgroup_size;
  MlirFields options;
  std::set<UpgradeRule> changes;
  std::string problem;

  std::string to_text() const {
    std::string text = "#iree_codegen.translation_info<pipeline = " + pipeline;
    if (!codegen_spec.empty()) text += " codegen_spec = " + codegen_spec;
    if (!workgroup_size.empty()) text += " workgroup_size = " + workgroup_size;
    if (!subgroup_size.empty()) text += " subgroup_size = " + subgroup_size;
    if (!options.all().empty()) text += ", {" + options.to_text() + "}";
    return text + ">";
  }
};

Translation translation_of(const std::string& text) {
  Translation translation;
  const auto read = MlirText::read(text, "");
  const std::size_t open = read ? read->find("<", 0, read->size()) : 0;
  if (!read || open == read->size()) {
    translation.problem = fmt::format("'{}' is no translation_info", text);
    return translation;
  }
  const std::size_t close = (*read)[open].partner;
  std::size_t i = open + 1;
  if (read->at(i) == "pipeline" && read->at(i + 1) == "=") i += 2;
  const std::size_t end = read->at(i + 1) == "<" ? read->behind(i + 1) : i + 1;
  translation.pipeline = read->between(i, end);
  for (i = end; i < close;) {
    if (read->at(i) == "{") {
      translation.options = MlirFields(*read, i + 1, (*read)[i].partner);
      i = read->behind(i);
    } else if (read->at(i + 1) == "=") {
      const std::size_t behind = read->behind(i + 2);
      const std::string value = read->between(i + 2, behind);
      if (read->at(i) == "codegen_spec") translation.codegen_spec = value;
      if (read->at(i) == "workgroup_size") translation.workgroup_size = value;
      if (read->at(i) == "subgroup_size") translation.subgroup_size = value;
      i = behind;
    } else {
      ++i;
    }
  }
  return translation;
}

void upgrade_pipeline(Translation& translation) {
  if (translation.pipeline.starts_with('#')) return;
  // The same pipeline, which padded tiles at the edges. It masks them today.
  if (translation.pipeline == "LLVMGPUPadAndVectorDistribute") {
    translation.pipeline = kVectorDistribute;
    translation.changes.insert(UpgradeRule::kPaddedPipeline);
    return;
  }
  const std::string attribute = pipeline_attribute(translation.pipeline);
  if (attribute.empty()) {
    const std::string reason = lost(translation.pipeline);
    translation.problem = !reason.empty() ? "pipeline " + reason
                                          : fmt::format("pipeline {} is not one that hone knows",
                                                        translation.pipeline);
    return;
  }
  translation.pipeline = attribute;
  translation.changes.insert(UpgradeRule::kPipelineAttribute);
}

// Options of the pipeline: gpu_pipeline_options since 2024-09-10, keys of the dictionary before.
void upgrade_options(Translation& translation) {
  static constexpr char kOptions[] = "gpu_pipeline_options";
  MlirFields& fields = translation.options;
  MlirFields options;
  const auto change = [&](UpgradeRule rule) { translation.changes.insert(rule); };
  if (fields.has(kOptions) && !fields.value(kOptions).starts_with("#iree_gpu.pipeline_options<")) {
    translation.problem =
        fmt::format("{} '{}' is of no compiler's syntax", kOptions, fields.value(kOptions));
    return;
  }
  const MlirFields stated = fields.has(kOptions) ? MlirFields::of(fields.value(kOptions)) : fields;
  for (const auto& [key, value] : stated.all()) {
    if (key == "prefetch_shared_memory") {
      options.set("prefetch_num_stages", value == "false" ? "0" : "2");
      change(UpgradeRule::kPrefetchStages);
    } else if (key == "reorder_workgroups_strategy" && !value.starts_with('<')) {
      options.set(key, "<" + value + ">");
      change(UpgradeRule::kReorderingInBrackets);
    } else if (key == "prefetch_num_stages" && value.find(" : ") != std::string::npos) {
      options.set(key, value.substr(0, value.find(" : ")));
      change(UpgradeRule::kPrefetchStages);
    } else if (fields.has(kOptions)) {
      options.set(key, value);
    }
  }
  if (const std::string order = fields.value("workgroup_reorder"); !order.empty()) {
    if (MlirFields::of(order).value("reorder_option") != "\"transpose\"") {
      translation.problem = fmt::format("workgroup_reorder '{}'", order);
      return;
    }
    options.set("reorder_workgroups_strategy", "<Transpose>");
    fields.remove("workgroup_reorder");
    change(UpgradeRule::kReorderingOfABranch);
  }
  if (!fields.has(kOptions)) {
    if (fields.has("no_reduce_shared_memory_bank_conflicts"))
      options.set("no_reduce_shared_memory_bank_conflicts", "true");
    if (fields.has("no_reorder_workgroups")) {
      options.set("reorder_workgroups_strategy", "<None>");
      change(UpgradeRule::kNoReordering);
    }
    if (const std::string order = fields.value("reorder_workgroups"); !order.empty()) {
      const std::string strategy = order == "\"transpose\"" ? "<Transpose>"
                                   : order == "\"swizzle\"" ? "<Swizzle>"
                                                            : "<None>";
      options.set("reorder_workgroups_strategy", strategy);
      change(UpgradeRule::kReorderingByName);
    }
    if (options.all().empty()) return;
    change(UpgradeRule::kPipelineOptions);
    for (const char* const key : {"prefetch_shared_memory", "no_reorder_workgroups",
                                  "reorder_workgroups", "no_reduce_shared_memory_bank_conflicts"})
      fields.remove(key);
  }
  fields.set(kOptions, "#iree_gpu.pipeline_options<" + options.to_text() + ">");
}

void upgrade_function_attributes(Translation& translation) {
  static constexpr char kWaves[] = "amdgpu-waves-per-eu";
  const std::string waves = translation.options.value(kWaves);
  if (waves.empty()) return;
  const auto number = integer_of(waves);
  MlirFields attributes = MlirFields::of(translation.options.value("llvm_func_attrs"));
  attributes.set(kWaves, number ? fmt::format("\"{}\"", *number) : waves);
  translation.options.remove(kWaves);
  translation.options.set("llvm_func_attrs", "{" + attributes.to_text() + "}");
  translation.changes.insert(UpgradeRule::kFunctionAttributes);
}

Translation today_of(const std::string& text) {
  Translation translation = translation_of(text);
  if (translation.problem.empty()) {
    upgrade_pipeline(translation);
    upgrade_options(translation);
    upgrade_function_attributes(translation);
  }
  return translation;
}

// An entry's compilation_info on its way to today's form.
class Upgrade {
 public:
  Upgrade(const std::string& text, const std::optional<MatchedLoops>& loops, long repeats)
      : loops_(loops), repeats_(repeats) {
    result_.text = text;
    const MlirFields fields = MlirFields::of(text);
    lowering_ = fields.value("lowering_config");
    translation_ = today_of(fields.value("translation_info"));
    for (const char* const key : {"workgroup_size", "subgroup_size"})
      if (const std::string value = fields.value(key); !value.empty()) {
        (key[0] == 'w' ? translation_.workgroup_size : translation_.subgroup_size) = value;
        result_.changes.insert(UpgradeRule::kWorkgroupSize);
      }
  }

  UpgradedText run() {
    result_.changes.insert(translation_.changes.begin(), translation_.changes.end());
    if (!translation_.problem.empty()) result_.fail(translation_.problem);
    is_old_ = lowering_.starts_with("#iree_codegen.lowering_config");
    read_schedule();
    if (is_old_)
      from_tile_sizes();
    else
      read_tiles();
    if (result_.problem.empty() && schedule_) set_schedule();
    if (result_.problem.empty() && repeats_ > 1) drop_repeats();
    if (result_.problem.empty() && !result_.changes.empty())
      result_.text = fmt::format(
          "#iree_codegen.compilation_info<\n      lowering_config = {},\n      translation_info = "
          "{}>",
          rewrites_ ? "#iree_gpu.lowering_config<{" + fields_.to_text() + "}>" : lowering_,
          translation_.to_text());
    return result_;
  }

 private:
  void read_schedule() {
    static constexpr char kSchedule[] = "mma_schedule";
    if (!is_old_) fields_ = MlirFields::of(lowering_);
    if (translation_.options.has(kSchedule)) {
      schedule_ = schedule_in(MlirFields::of(translation_.options.value(kSchedule)), "intrinsic");
      translation_.options.remove(kSchedule);
      result_.changes.insert(UpgradeRule::kMatrixKind);
      if (!schedule_) result_.fail("its mma_schedule has no intrinsic and subgroup counts");
      if (schedule_ && schedule_->m_tiles) result_.changes.insert(UpgradeRule::kTileCounts);
    } else if (translation_.pipeline == kVectorDistribute) {
      schedule_ = schedule_in(fields_, "mma_kind");
    }
  }

  void read_tiles() {
    tiles_.workgroup = integers_of(fields_.value("workgroup"));
    tiles_.reduction = integers_of(fields_.value("reduction"));
  }

  // Until 2024-09-27 one level of tile sizes had the workgroup's of parallel loops, and the steps
  // of reduction loops. The pipeline always promoted both operands.
  void from_tile_sizes() {
    if (translation_.pipeline != kVectorDistribute) {
      if (translation_.pipeline.starts_with("#iree_cpu"))
        result_.fail("tile_sizes by levels, which the compiler reads as names on CPUs since 2025");
      return;
    }
    if (!schedule_) {
      result_.fail(
          "tile_sizes without an mma_schedule, which the compiler of that date chose by itself");
      return;
    }
    if (!loops_) {
      result_.fail("tile_sizes, and its matcher does not state the loops");
      return;
    }
    if (loops_->attention) {
      result_.fail("tile_sizes of an attention, whose loops the matcher does not state");
      return;
    }
    const std::string levels = MlirFields::of(lowering_).value("tile_sizes");
    const std::vector<long> sizes = integers_of(levels);
    const auto count = std::ranges::count(levels, '[');
    if (count != 2 || sizes.size() != loops_->kinds.size()) {
      result_.fail(fmt::format("tile_sizes {} for {} loops", levels, loops_->kinds.size()));
      return;
    }
    tiles_.workgroup = tiles_.reduction = sizes;
    for (std::size_t loop = 0; loop < sizes.size(); ++loop)
      (is_reduction(loops_->kinds[loop]) ? tiles_.workgroup : tiles_.reduction)[loop] = 0;
    fields_.set("workgroup", list_of(tiles_.workgroup));
    fields_.set("reduction", list_of(tiles_.reduction));
    fields_.set("promote_operands", "[0, 1]");
    rewrites_ = true;
    result_.changes.insert(UpgradeRule::kTileSizes);
  }

  // Sets mma_kind and subgroup_basis.
  void set_schedule() {
    const UpgradedText layout = upgraded_layout(schedule_->layout);
    add(result_, layout);
    const auto shape = shape_of(intrinsic_of(layout.text));
    if (!shape) return result_.fail(fmt::format("intrinsic '{}'", layout.text));
    if (loops_ && loops_->attention)
      return result_.fail("one schedule for both products of an attention, which have their own");
    if (!loops_) return result_.fail("subgroup counts, and its matcher does not state the loops");
    if (tiles_.workgroup.size() != loops_->kinds.size())
      return result_.fail(
          fmt::format("tiles {} for {} loops", list_of(tiles_.workgroup), loops_->kinds.size()));
    const Distribution distribution =
        distribution_of(loops_->kinds, tiles_.workgroup, *schedule_, *shape);
    if (!distribution.problem.empty()) return result_.fail(distribution.problem);
    check_tile_counts(*shape);
    repeats_ = distribution.repeats;
    check_subgroups(product_of(distribution.counts) * repeats_);
    if (fields_.value("mma_kind").empty() || fields_.value("mma_kind") != layout.text)
      fields_.set("mma_kind", layout.text);
    fields_.set("subgroup_basis", basis_text(distribution.counts));
    fields_.remove("subgroup_m_count");
    fields_.remove("subgroup_n_count");
    rewrites_ = true;
    result_.changes.insert(UpgradeRule::kSubgroupBasis);
  }

  // Until 2024-04-29 the schedule repeated what the tiles say.
  void check_tile_counts(const std::array<long, 3>& shape) {
    const auto differs = [&](char kind, const std::vector<long>& tiles, std::optional<long> count,
                             long subgroups, long extent) {
      long tile = 1;
      for (std::size_t loop = 0; loop < tiles.size(); ++loop)
        if (loops_->kinds[loop] == kind) tile *= std::max(tiles[loop], 1L);
      return count && tile != *count * subgroups * extent;
    };
    if (differs('M', tiles_.workgroup, schedule_->m_tiles, schedule_->m_count, shape[0]) ||
        differs('N', tiles_.workgroup, schedule_->n_tiles, schedule_->n_count, shape[1]) ||
        differs('K', tiles_.reduction, schedule_->k_tiles, 1, shape[2]))
      result_.fail("subgroup tile counts that contradict its tile_sizes");
  }

  void check_subgroups(long used) {
    const std::vector<long> threads = integers_of(translation_.workgroup_size);
    const auto lanes = integer_of(translation_.subgroup_size);
    if (threads.empty() || !lanes || *lanes == 0) return;
    const long subgroups = product_of(threads) / *lanes;
    if (subgroups != used)
      result_.fail(
          fmt::format("{} subgroups in the workgroup, and {} in its schedule", subgroups, used));
  }

  // Leaves as many threads as have work of their own.
  void drop_repeats() {
    std::vector<long> threads = integers_of(translation_.workgroup_size);
    long rest = repeats_;
    for (auto size = threads.rbegin(); size != threads.rend(); ++size) {
      const long divisor = std::gcd(rest, *size);
      *size /= divisor;
      rest /= divisor;
    }
    if (rest != 1)
      return result_.fail(
          fmt::format("{} of its subgroups repeat others' work in a workgroup of {}", repeats_,
                      translation_.workgroup_size));
    translation_.workgroup_size = list_of(threads);
    result_.changes.insert(UpgradeRule::kRepeatedWork);
  }

  const std::optional<MatchedLoops>& loops_;
  long repeats_;
  std::string lowering_;
  MlirFields fields_;  // of today's lowering_config
  Translation translation_;
  std::optional<Schedule> schedule_;
  RootTiles tiles_;
  bool is_old_ = false, rewrites_ = false;
  UpgradedText result_;
};

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

UpgradedText upgraded_layout(const std::string& text) {
  constexpr std::string_view kPlain = "#iree_gpu.mma_layout",
                             kVirtual = "#iree_gpu.virtual_mma_layout";
  UpgradedText result{text, {}, ""};
  const auto read = MlirText::read(text, "");
  if (!read || read->at(1) != "<") return result;
  std::string name(read->at(0));
  if (const auto today = renamed(name)) {
    name = today->name;
    result.changes.insert(today->rule);
  }
  if (name != kPlain && name != kVirtual) return result;
  std::size_t first = 2;
  if (read->at(first) == "intrinsic" && read->at(first + 1) == "=") {
    first += 2;
    result.changes.insert(UpgradeRule::kVirtualIntrinsicKey);
  }
  std::string intrinsic(read->at(first));
  if (const auto today = renamed(intrinsic)) {
    intrinsic = today->name;
    result.changes.insert(today->rule);
  }
  if (name == kPlain && intrinsic.starts_with("VMFMA_")) {
    name = kVirtual;
    result.changes.insert(UpgradeRule::kVirtualIntrinsic);
  }
  if (!result.changes.empty())
    result.text = name + "<" + intrinsic + read->text().substr((*read)[first].end);
  return result;
}

UpgradedText upgraded_translation(const std::string& text) {
  const Translation translation = today_of(text);
  UpgradedText result{text, translation.changes, translation.problem};
  if (translation.options.has("mma_schedule"))
    result.fail("a schedule of matrix instructions for no operation that its matcher names");
  if (result.problem.empty() && !result.changes.empty()) result.text = translation.to_text();
  return result;
}

RootTiles root_tiles(const MlirText& text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text.at(i) != "#iree_codegen.compilation_info" || text.at(i + 1) != "<") continue;
    const MlirFields lowering =
        MlirFields::of(MlirFields(text, i + 2, text[i + 1].partner).value("lowering_config"));
    return {integers_of(lowering.value("workgroup")), integers_of(lowering.value("reduction"))};
  }
  return {};
}

UpgradedText upgraded_compilation_info(const std::string& text,
                                       const std::optional<MatchedLoops>& loops, long repeats) {
  return Upgrade(text, loops, repeats).run();
}

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
