// What a search looks at before it has been told anything.
#pragma once

#include <optional>
#include <vector>

#include "search/prior_search.h"

namespace hone::search {

// Draws configurations: by the prior, or at random. It may draw one a second time, by the other
// way.
class FirstSample {
 public:
  // `space` must outlive this.
  FirstSample(const space::Space& space, std::uint64_t seed, Prior prior) : random_(space, seed) {
    if (prior) ranked_.emplace(space, seed, std::move(prior));
  }

  bool has_prior() const { return ranked_.has_value(); }
  // What the prior puts first of what it was not asked for, but for what differs in one knob only
  // from what it gave before: neighbours come later. Nothing without a prior, or at its end.
  std::optional<space::Configuration> by_prior();
  // Nothing when the space is exhausted.
  std::optional<space::Configuration> at_random();

 private:
  RandomSearch random_;
  std::optional<PriorSearch> ranked_;
  std::vector<space::Configuration> given_;  // because of the prior
};

}  // namespace hone::search
