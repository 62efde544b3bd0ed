#include "search/local_search.h"

#include <algorithm>

namespace hone::search {

std::vector<space::Configuration> LocalSearch::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  do {
    ask_sample(count, proposals);
    if (sample_left_ == 0) ask_neighbours(count, proposals);
  } while (proposals.empty() && count > 0 && start_another_pass());
  return proposals;
}

void LocalSearch::ask_sample(std::size_t count, std::vector<space::Configuration>& proposals) {
  while (sample_left_ > 0 && proposals.size() < count) {
    std::optional<space::Configuration> drawn = draw();
    if (!drawn) {
      exhausted_ = true;
      sample_left_ = 0;
      return;
    }
    if (!proposed_.insert(*drawn).second) continue;
    proposals.push_back(std::move(*drawn));
    --sample_left_;
  }
}

std::optional<space::Configuration> LocalSearch::draw() {
  if (sample_left_ > kRandom)
    if (std::optional<space::Configuration> drawn = sample_.by_prior()) return drawn;
  return sample_.at_random();
}

void LocalSearch::ask_neighbours(std::size_t count, std::vector<space::Configuration>& proposals) {
  // Neighbours of a sample that is not told yet would be neighbours of any configuration.
  if (!proposals.empty()) return;
  std::size_t leaders = 0;
  for (auto leader = by_score_.begin(); leader != by_score_.end() && leaders < kLeaders;
       ++leader, ++leaders)
    for (space::Configuration& neighbour : space_.neighbours(leader->second)) {
      if (proposals.size() == count) return;
      if (proposed_.insert(neighbour).second) proposals.push_back(std::move(neighbour));
    }
}

bool LocalSearch::start_another_pass() {
  // Only another random sample can help while no candidate has worked.
  const bool worthwhile = by_score_.empty() || !best_of_last_pass_ ||
                          by_score_.begin()->first < *best_of_last_pass_ * (1 - kWorthwhile);
  if (exhausted_ || !worthwhile) return false;
  if (!by_score_.empty()) best_of_last_pass_ = by_score_.begin()->first;
  sample_left_ = kNextSample;
  return true;
}

void LocalSearch::tell(const space::Configuration& configuration, const Outcome& outcome) {
  if (outcome.score) by_score_.emplace(*outcome.score, configuration);
}

}  // namespace hone::search
