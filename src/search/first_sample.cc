#include "search/first_sample.h"

#include <algorithm>

namespace hone::search {
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
