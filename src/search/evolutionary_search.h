// Evolutionary search: children of the best, by crossing and by one step to a neighbour.
#pragma once

#include <map>
#include <set>

#include "search/first_sample.h"

namespace hone::search {

// A first sample (by the prior where there is one, the rest random), then children of the
// kSurvivors best of all that was told. A parent is the best of kTournament drawn at random; half
// of the children take each knob from one of two parents, where the space has that mixture, and
// every child takes one step to a neighbour (one knob different) that was not proposed yet.
// Steady-state evolution after Real et al., "Regularized evolution for image classifier
// architecture search" (AAAI 2019), but that age does not kill: scores here are good to a percent.
// It ends with the space.
class EvolutionarySearch final : public Strategy {
 public:
  static constexpr std::size_t kFirstSample = 16;
  static constexpr std::size_t kRandom = 4;  // of it, where there is a prior
  static constexpr std::size_t kSurvivors = 16;
  static constexpr int kTournament = 3;

  // `space` must outlive this.
  EvolutionarySearch(const space::Space& space, std::uint64_t seed, Prior prior = {})
      : space_(space), sample_(space, seed, std::move(prior)), generator_(seed) {}

  std::string_view name() const override { return "evolutionary"; }
  std::vector<space::Configuration> ask(std::size_t count) override;
  void tell(const space::Configuration& configuration, std::optional<double> score) override;

 private:
  std::optional<space::Configuration> first();
  std::optional<space::Configuration> child();
  const space::Configuration& parent();
  space::Configuration crossed();

  const space::Space& space_;
  FirstSample sample_;
  std::mt19937_64 generator_;
  std::set<space::Configuration> proposed_;
  std::multimap<double, space::Configuration> survivors_;
};

}  // namespace hone::search
