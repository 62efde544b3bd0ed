#include "tune/program/build.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "plan/policy.h"
#include "tune/dispatch/combined_verdict.h"

namespace hone::tune {
namespace {

// Returns the build at each size; fewer if a size has none.
std::vector<const VerifiedBuild*> at_each(const std::vector<std::vector<VerifiedBuild>>& at_sizes,
                                          const VerifiedBuild& wanted) {
  std::vector<const VerifiedBuild*> found;
  for (const std::vector<VerifiedBuild>& builds : at_sizes)
    if (const VerifiedBuild* const here = find_build(builds, wanted.id())) found.push_back(here);
  return found;
}

Result<Claim> claim(std::span<const ProvingRounds> at_sizes,
                    std::vector<double> ProvingRounds::*without,
                    std::vector<double> ProvingRounds::*with) {
  measure::ComparisonOptions options;
  options.alpha = plan::kRecommendedInError / static_cast<double>(at_sizes.size());
  Claim claimed;
  for (const ProvingRounds& rounds : at_sizes) {
    HONE_ASSIGN(measure::PairedComparison comparison,
                measure::compare_paired(rounds.*without, rounds.*with, options));
    claimed.at_sizes.push_back(std::move(comparison));
  }
  claimed.verdict = combined_verdict(claimed.at_sizes);
  claimed.margin = slower_margin(claimed.at_sizes);
  return claimed;
}

nlohmann::json json_of_claim(const std::optional<Claim>& claim) {
  if (!claim) return nullptr;
  nlohmann::json rows = nlohmann::json::array();
  for (const measure::PairedComparison& each : claim->at_sizes)
    rows.push_back({{"speedup", 1 / each.ratio},
                    {"speedup_low", 1 / each.interval.high},
                    {"speedup_high", 1 / each.interval.low},
                    {"rounds", each.rounds}});
  return {
      {"verdict", measure::name_of(claim->verdict)}, {"margin", claim->margin}, {"at_sizes", rows}};
}

}  // namespace

BuildId Build::id() const {
  nlohmann::json kernels = nlohmann::json::array();
  for (const provider::ReplacedExecutable& each : replaced)
    kernels.push_back({each.executable, content_hash(each.text)});
  return {content_hash(nlohmann::json{flags, content_hash(spec), kernels}.dump())};
}

Build default_build() {
  return {.label = "default"};
}

std::string joined_label(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + " + " + b;
}

Result<std::optional<VerifiedBuild>> most_promising(
    const std::vector<std::vector<VerifiedBuild>>& at_sizes) {
  if (at_sizes.empty() || at_sizes.front().empty()) return std::nullopt;
  const std::vector<const VerifiedBuild*> base = at_each(at_sizes, at_sizes.front().front());
  if (base.size() < at_sizes.size()) return std::nullopt;
  const VerifiedBuild* best = base.front();
  double best_ratio = 1;
  const bool repairs = std::ranges::any_of(
      at_sizes.front(), [](const VerifiedBuild& each) { return !each.repairs.empty(); });
  if (repairs) best_ratio = std::numeric_limits<double>::infinity();
  for (const VerifiedBuild& each : at_sizes.front()) {
    const std::vector<const VerifiedBuild*> rival = at_each(at_sizes, each);
    if (rival.size() < at_sizes.size() || (repairs && each.repairs.empty())) continue;
    std::vector<measure::PairedComparison> comparisons;
    bool slower = false;
    for (std::size_t i = 0; i < rival.size(); ++i) {
      HONE_ASSIGN(measure::PairedComparison comparison,
                  measure::compare_paired(base[i]->seconds, rival[i]->seconds));
      slower = slower || comparison.ratio > 1 + plan::kLeastMargin;
      comparisons.push_back(std::move(comparison));
    }
    const double ratio = mean_ratio(comparisons);
    if ((slower && !repairs) || ratio >= best_ratio) continue;
    best = &each;
    best_ratio = ratio;
  }
  return *best;
}

Result<ProgramVerdict> verdict_of(std::span<const ProvingRounds> at_sizes,
                                  const std::vector<std::string>& repairs) {
  if (at_sizes.empty()) return input_error("a program is proved at one size at least");
  using measure::Verdict;
  ProgramVerdict verdict;
  HONE_ASSIGN(verdict.chosen, claim(at_sizes, &ProvingRounds::base, &ProvingRounds::chosen));
  if (!at_sizes.front().flags.empty()) {
    HONE_ASSIGN(verdict.spec, claim(at_sizes, &ProvingRounds::flags, &ProvingRounds::chosen));
    HONE_ASSIGN(verdict.flags, claim(at_sizes, &ProvingRounds::base, &ProvingRounds::flags));
  }
  if (!repairs.empty()) verdict.recommended = Recommended::kChosen;
  if (!repairs.empty() || verdict.chosen.verdict != Verdict::kFaster) return verdict;
  const bool by_flags = verdict.spec && verdict.spec->verdict != Verdict::kFaster &&
                        verdict.flags->verdict == Verdict::kFaster;
  verdict.recommended = by_flags ? Recommended::kFlags : Recommended::kChosen;
  return verdict;
}

nlohmann::json json_of(const ProgramVerdict& verdict, const VerifiedBuild& chosen) {
  std::string recommended = "default";
  if (verdict.recommended == Recommended::kFlags) recommended = chosen.without_spec->label;
  if (verdict.recommended == Recommended::kChosen) recommended = chosen.label;
  return {{"variant", chosen.label},
          {"recommended", recommended},
          {"recommended_in_error", plan::kRecommendedInError},
          {"against_default", json_of_claim(verdict.chosen)},
          {"spec_against_flags", json_of_claim(verdict.spec)},
          {"flags_against_default", json_of_claim(verdict.flags)}};
}

std::vector<bool> kept_entries(std::span<const measure::Verdict> with_it,
                               const measure::PairedComparison& whole) {
  const bool helps =
      whole.verdict == measure::Verdict::kFaster ||
      (whole.verdict == measure::Verdict::kNoDifferent && whole.ratio <= plan::kWorthProvingRatio);
  std::vector<bool> kept;
  for (const measure::Verdict verdict : with_it)
    kept.push_back(helps ? verdict != measure::Verdict::kSlower
                         : verdict == measure::Verdict::kFaster);
  return kept;
}

std::vector<std::vector<std::size_t>> groups_of(std::size_t count, std::size_t most) {
  std::vector<std::vector<std::size_t>> groups(std::min(count, most));
  for (std::size_t i = 0; i < count; ++i) groups[i * groups.size() / count].push_back(i);
  return groups;
}

}  // namespace hone::tune
