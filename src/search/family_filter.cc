#include "search/family_filter.h"

#include <algorithm>

namespace hone::search {

std::vector<space::Configuration> FamilyFilter::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  if (is_over()) {
    proposals = strategy_->ask(count);
    if (proposals.empty()) take_put_off(count, SIZE_MAX, proposals);
    return proposals;
  }
  take_put_off(count, 0, proposals);
  bool ended = false;
  const std::size_t most = learns(name()) ? kLookedAtWhileLearning : kLookedAt;
  for (std::size_t looked = 0; looked < most && proposals.size() < count;) {
    std::vector<space::Configuration> more = strategy_->ask(count - proposals.size());
    ended = more.empty();
    if (ended) break;
    looked += more.size();
    for (space::Configuration& each : more) {
      if (failed_.count(each) > 0)
        put_off_.push_back(std::move(each));
      else
        proposals.push_back(std::move(each));
    }
  }
  if (!proposals.empty() || put_off_.empty()) return proposals;
  if (ended && worked_ && learns(name())) return proposals;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t i = 0; i < std::min(kLookedAt, put_off_.size()); ++i)
    fewest = std::min(fewest, failed_.count(put_off_[i]));
  take_put_off(count, fewest, proposals);
  return proposals;
}

void FamilyFilter::take_put_off(std::size_t count, std::size_t families,
                                std::vector<space::Configuration>& proposals) {
  std::size_t looked = 0;
  for (auto each = put_off_.begin();
       each != put_off_.end() && looked < kLookedAt && proposals.size() < count; ++looked) {
    if (failed_.count(*each) > families) {
      ++each;
      continue;
    }
    proposals.push_back(std::move(*each));
    each = put_off_.erase(each);
  }
}

void FamilyFilter::tell(const space::Configuration& configuration, const Outcome& outcome) {
  if (outcome.score) {
    failed_.tell_worked(configuration);
    worked_ = true;
  } else {
    failed_.tell_failed(configuration, outcome.cause);
  }
  strategy_->tell(configuration, outcome);
}

}  // namespace hone::search
