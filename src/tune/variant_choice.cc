#include "tune/variant_choice.h"

#include <algorithm>

#include "tune/joint_verdict.h"

namespace hone::tune {
namespace {

// The variant of that name at each size; fewer where one size has none.
std::vector<const RightVariant*> at_each(const std::vector<std::vector<RightVariant>>& at_sizes,
                                         const std::string& name) {
  std::vector<const RightVariant*> found;
  for (const std::vector<RightVariant>& variants : at_sizes)
    for (const RightVariant& variant : variants)
      if (variant.name == name) found.push_back(&variant);
  return found;
}

}  // namespace

Result<std::optional<RightVariant>> choose_variant(
    const std::vector<std::vector<RightVariant>>& at_sizes) {
  std::vector<const RightVariant*> chosen;
  if (at_sizes.empty()) return std::nullopt;
  for (const RightVariant& variant : at_sizes.front()) {
    const std::vector<const RightVariant*> rival = at_each(at_sizes, variant.name);
    if (rival.size() < at_sizes.size()) continue;
    if (chosen.empty()) {
      chosen = rival;
      continue;
    }
    std::vector<measure::PairedComparison> comparisons;
    for (std::size_t i = 0; i < rival.size(); ++i) {
      HONE_ASSIGN(measure::PairedComparison comparison,
                  measure::compare_paired(chosen[i]->seconds, rival[i]->seconds));
      comparisons.push_back(std::move(comparison));
    }
    if (joint_verdict(comparisons) == measure::Verdict::kFaster) chosen = rival;
  }
  if (chosen.empty()) return std::nullopt;
  return *chosen.front();
}

}  // namespace hone::tune
