#include "search/fixed_order.h"

#include <algorithm>
#include <cmath>

namespace hone::search {

std::vector<space::Configuration> RandomSearch::ask(std::size_t count) {
  return space_.count().exact ? ask_by_index(count) : ask_by_rejection(count);
}

std::vector<space::Configuration> RandomSearch::ask_by_index(std::size_t count) {
  std::vector<space::Configuration> proposals;
  while (proposals.size() < count && remaining_ > 0) {
    const std::uint64_t drawn =
        std::uniform_int_distribution<std::uint64_t>(0, remaining_ - 1)(generator_);
    const std::uint64_t index = at(drawn);
    moved_[drawn] = at(--remaining_);
    if (auto configuration = space_.at(index)) proposals.push_back(std::move(*configuration));
  }
  return proposals;
}

std::vector<space::Configuration> RandomSearch::ask_by_rejection(std::size_t count) {
  // Repeats become frequent only when most of a space is drawn, and a space too large to count is
  // never drawn that far.
  constexpr int kMostRepeats = 1000;
  std::vector<space::Configuration> proposals;
  for (int repeats = 0; proposals.size() < count && repeats < kMostRepeats;) {
    auto drawn = space_.sample(generator_);
    if (!drawn) break;
    if (seen_.insert(*drawn).second)
      proposals.push_back(std::move(*drawn));
    else
      ++repeats;
  }
  return proposals;
}

std::uint64_t RandomSearch::at(std::uint64_t position) const {
  const auto moved = moved_.find(position);
  return moved == moved_.end() ? position : moved->second;
}

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

namespace {

bool are_near(const space::Configuration& a, const space::Configuration& b) {
  int differences = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) differences += a.values[i] != b.values[i];
  return differences <= 1;
}

}  // namespace

std::optional<space::Configuration> FirstSample::by_prior() {
  while (ranked_) {
    std::vector<space::Configuration> best = ranked_->ask(1);
    if (best.empty()) break;
    const auto near = [&](const auto& other) { return are_near(other, best.front()); };
    if (std::ranges::any_of(given_, near)) continue;
    given_.push_back(best.front());
    return std::move(best.front());
  }
  return std::nullopt;
}

std::optional<space::Configuration> FirstSample::at_random() {
  std::vector<space::Configuration> drawn = random_.ask(1);
  if (drawn.empty()) return std::nullopt;
  return std::move(drawn.front());
}

}  // namespace hone::search
