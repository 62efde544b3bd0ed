#include "provider/iree/spec_upgrade/configuration.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "provider/iree/spec_upgrade/schedule.h"
#include "provider/iree/spec_upgrade/translation.h"

namespace hone::iree {
namespace {

void add(UpgradedText& to, const UpgradedText& part) {
  to.changes.insert(part.changes.begin(), part.changes.end());
  if (!part.problem.empty()) to.fail(part.problem);
}

// An entry's compilation_info on its way to today's form.
class Upgrade {
 public:
  Upgrade(const std::string& text, const std::optional<MatchedLoops>& loops, long repeats)
      : loops_(loops), repeats_(repeats) {
    result_.text = text;
    const MlirFields fields = MlirFields::of(text);
    lowering_ = fields.value("lowering_config");
    translation_ = todays_translation(fields.value("translation_info"));
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
  const Translation translation = todays_translation(text);
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

}  // namespace hone::iree
