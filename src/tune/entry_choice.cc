#include "tune/entry_choice.h"

#include <algorithm>

namespace hone::tune {

using measure::Verdict;

std::vector<bool> kept_entries(std::span<const Verdict> with_it, Verdict whole) {
  const bool any_helps =
      std::find(with_it.begin(), with_it.end(), Verdict::kFaster) != with_it.end();
  std::vector<bool> kept;
  for (const Verdict verdict : with_it)
    kept.push_back(any_helps || whole != Verdict::kFaster ? verdict == Verdict::kFaster
                                                          : verdict != Verdict::kSlower);
  return kept;
}

}  // namespace hone::tune
