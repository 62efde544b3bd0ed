#include "search/evolutionary_search.h"

#include <algorithm>
#include <iterator>

#include "space/random.h"

namespace hone::search {

std::vector<space::Configuration> EvolutionarySearch::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  while (proposals.size() < count) {
    std::optional<space::Configuration> next;
    if (proposed_.size() >= kFirstSample && !survivors_.empty()) next = child();
    if (!next) next = first();
    if (!next) break;
    proposed_.insert(*next);
    proposals.push_back(std::move(*next));
  }
  return proposals;
}

std::optional<space::Configuration> EvolutionarySearch::first() {
  while (proposed_.size() + kRandom < kFirstSample) {
    std::optional<space::Configuration> drawn = sample_.by_prior();
    if (!drawn) break;
    if (!proposed_.contains(*drawn)) return drawn;
  }
  while (std::optional<space::Configuration> drawn = sample_.at_random())
    if (!proposed_.contains(*drawn)) return drawn;
  return std::nullopt;
}

std::optional<space::Configuration> EvolutionarySearch::child() {
  // Around a local optimum all neighbours may be known: then a random one serves.
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const bool crosses = space::uniform_below(2, generator_) == 0;
    const space::Configuration begin = crosses ? crossed() : parent();
    std::vector<space::Configuration> steps = space_.neighbours(begin);
    std::erase_if(steps, [&](const auto& each) { return proposed_.contains(each); });
    if (!steps.empty()) return std::move(steps[space::uniform_below(steps.size(), generator_)]);
  }
  return std::nullopt;
}

const space::Configuration& EvolutionarySearch::parent() {
  std::uint64_t best = survivors_.size();
  for (int i = 0; i < kTournament; ++i)
    best = std::min(best, space::uniform_below(survivors_.size(), generator_));
  return std::next(survivors_.begin(), static_cast<std::ptrdiff_t>(best))->second;
}

space::Configuration EvolutionarySearch::crossed() {
  const space::Configuration& a = parent();
  const space::Configuration& b = parent();
  space::Configuration mixed = a;
  for (std::size_t i = 0; i < mixed.values.size(); ++i)
    if (space::uniform_below(2, generator_) == 0) mixed.values[i] = b.values[i];
  return space_.is_legal(mixed) ? mixed : a;
}

void EvolutionarySearch::tell(const space::Configuration& configuration,
                              std::optional<double> score) {
  if (!score) return;
  survivors_.emplace(*score, configuration);
  if (survivors_.size() > kSurvivors) survivors_.erase(std::prev(survivors_.end()));
}

}  // namespace hone::search
