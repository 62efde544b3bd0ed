// Chooses the configurations that a search tries before it knows any score.
#pragma once

#include <optional>
#include <vector>

#include "search/prior_search.h"

namespace hone::search {

// Draws configurations by the prior or at random. Each way may repeat a draw of the other.
class FirstSample {
 public:
  // `space` must outlive this.
  FirstSample(const space::Space& space, std::uint64_t seed, Prior prior) : random_(space, seed) {
    if (prior) ranked_.emplace(space, seed, std::move(prior));
  }

  bool has_prior() const { return ranked_.has_value(); }
  // Returns the prior's next best configuration. Skips neighbours of earlier results, which differ
  // in one knob only: they come later. Returns nullopt without a prior, or at its end.
  std::optional<space::Configuration> by_prior();
  // Returns nullopt when the space is exhausted.
  std::optional<space::Configuration> at_random();

 private:
  RandomSearch random_;
  std::optional<PriorSearch> ranked_;
  std::vector<space::Configuration> given_;  // because of the prior
};

}  // namespace hone::search
