// Searches by a model of the measurements so far.
#pragma once

#include <map>
#include <set>

#include "search/first_sample.h"
#include "search/regression_forest.h"

namespace hone::search {

// Begins with a first sample, by the prior if there is one, except for a few random configurations.
// Then it proposes what a regression forest over the knobs and the prior's estimate favours. Each
// proposal of a round is the untried configuration of least mean - x * deviation, x drawn anew from
// an exponential distribution. So some proposals refine, some explore, and none waits for another
// (Hutter, Hoos, Leyton-Brown, "Parallel algorithm configuration", 2012). In a space of at most
// kWhole configurations it ranks all. In a larger one it ranks kDrawn random ones, the prior's next
// ones and the neighbours of the best. A proposal therefore costs the same in a space of a thousand
// million. The search ends with the space.
class ModelSearch final : public Strategy {
 public:
  static constexpr std::size_t kFirstSample = 12;
  static constexpr std::size_t kRandom = 4;  // of it, where there is a prior
  static constexpr std::size_t kWhole = 1024;
  static constexpr std::size_t kDrawn = 256;
  static constexpr std::size_t kByPrior = 64;
  static constexpr std::size_t kLeaders = 4;

  // `space` must outlive this.
  ModelSearch(const space::Space& space, std::uint64_t seed, Prior prior = {});

  std::string_view name() const override { return "model"; }
  std::vector<space::Configuration> ask(std::size_t count) override;
  void tell(const space::Configuration& configuration, const Outcome& outcome) override;
  void note_noise(double share) override { noise_ = share; }
  std::optional<double> expected_gain() const override { return expected_gain_; }

 private:
  struct Looked {
    space::Configuration configuration;
    RegressionForest::Prediction prediction;
  };

  void ask_sample(std::size_t count, std::vector<space::Configuration>& proposals);
  void ask_model(std::size_t count, std::vector<space::Configuration>& proposals);
  std::vector<space::Configuration> pool();
  std::vector<double> place(const space::Configuration& configuration) const;
  void estimate_gain(const std::vector<Looked>& looked);

  const space::Space& space_;
  Prior prior_;
  FirstSample sample_;
  std::mt19937_64 generator_;
  std::set<space::Configuration> proposed_;
  std::vector<space::Configuration> prior_next_;  // of the prior's order, not proposed yet
  std::multimap<double, space::Configuration> by_score_;
  std::vector<std::vector<double>> places_;        // of what was told
  std::vector<std::optional<double>> log_scores_;  // of these
  double noise_ = 0;
  std::optional<double> expected_gain_;
};

}  // namespace hone::search
