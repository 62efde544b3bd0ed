#include "tune/program/entry_choice.h"

#include <algorithm>

namespace hone::tune {

using measure::Verdict;

std::vector<bool> kept_entries(std::span<const Verdict> with_it,
                               const measure::PairedComparison& whole) {
  constexpr double kWorthProving = 0.98;
  const bool helps = whole.verdict == Verdict::kFaster ||
                     (whole.verdict == Verdict::kNoDifferent && whole.ratio <= kWorthProving);
  std::vector<bool> kept;
  for (const Verdict verdict : with_it)
    kept.push_back(helps ? verdict != Verdict::kSlower : verdict == Verdict::kFaster);
  return kept;
}

std::vector<std::vector<std::size_t>> groups_of(std::size_t count, std::size_t most) {
  std::vector<std::vector<std::size_t>> groups(std::min(count, most));
  for (std::size_t i = 0; i < count; ++i) groups[i * groups.size() / count].push_back(i);
  return groups;
}

}  // namespace hone::tune
