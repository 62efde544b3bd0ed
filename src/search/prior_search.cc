#include "search/prior_search.h"

#include <algorithm>
#include <cmath>

namespace hone::search {

std::vector<space::Configuration> PriorSearch::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  while (proposals.size() < count) {
    if (next_ == ranked_.size()) rank_more();
    if (ranked_.empty()) break;
    proposals.push_back(std::move(ranked_[next_++]));
  }
  return proposals;
}

void PriorSearch::rank_more() {
  next_ = 0;
  ranked_.clear();
  if (ranked_all_) return;
  const space::Count count = space_.count();
  if (count.exact && count.value <= kMostRanked) {
    ranked_all_ = true;
    space::Enumerator enumerator = space_.enumerate();
    while (auto configuration = enumerator.next()) ranked_.push_back(std::move(*configuration));
  } else {
    ranked_ = random_.ask(kDrawn);
  }
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(ranked_.size());
  for (std::size_t i = 0; i < ranked_.size(); ++i) {
    const double estimate = prior_(ranked_[i]);
    order.emplace_back(std::isnan(estimate) ? INFINITY : estimate, i);
  }
  std::ranges::sort(order);
  std::vector<space::Configuration> sorted;
  sorted.reserve(ranked_.size());
  for (const auto& [estimate, i] : order) sorted.push_back(std::move(ranked_[i]));
  ranked_ = std::move(sorted);
}

}  // namespace hone::search
