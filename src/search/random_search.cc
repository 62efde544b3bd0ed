#include "search/random_search.h"

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

}  // namespace hone::search
