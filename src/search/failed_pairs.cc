#include "search/failed_pairs.h"

namespace hone::search {
namespace {

// Stops where `visit` gives true, and gives that.
template <class Visit>
bool any_pair(const space::Configuration& configuration, const Visit& visit) {
  const auto& values = configuration.values;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j)
      if (visit(std::array<space::Value, 4>{static_cast<space::Value>(i), values[i],
                                            static_cast<space::Value>(j), values[j]}))
        return true;
  return false;
}

}  // namespace

void FailedPairs::tell(const space::Configuration& configuration, bool worked) {
  any_pair(configuration, [&](const auto& pair) {
    Told& told = told_[pair];
    told.worked = told.worked || worked;
    if (!worked) ++told.failed;
    return false;
  });
}

bool FailedPairs::blames(const space::Configuration& configuration) const {
  if (told_.empty()) return false;
  return any_pair(configuration, [&](const auto& pair) {
    const auto known = told_.find(pair);
    return known != told_.end() && !known->second.worked && known->second.failed >= kFailures;
  });
}

}  // namespace hone::search
