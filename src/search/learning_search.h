// Searches that learn from the scores: local search, and search by a model of the measurements.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "search/fixed_order.h"

namespace hone::search {

// Local search, in passes of two steps: a sample of configurations, then the neighbours (one knob
// different) of the kLeaders best so far until all of these are tried. It ends after a pass that
// did not improve the best by kWorthwhile, or when the space is exhausted. It uses several leaders,
// because the measurement that ranks them is good to a few percent only. A single leader also ends
// in a local optimum. A study simulated 200 first passes over the 528 configurations of a 512^3
// matmul (llvm-cpu), measured exhaustively. One leader missed the best in 34, two and more in none,
// after 72 to 96 measurements (docs/studies/search-regret.md).
//
// A sample is random without a prior. With a prior it is the prior's best, except for its last
// kRandom, since a prior may be wrong about a whole part of the space. The prior's choices differ
// from one another in more than one knob: neighbours come later.
class LocalSearch final : public Strategy {
 public:
  static constexpr std::size_t kFirstSample = 32;
  static constexpr std::size_t kNextSample = 16;
  static constexpr std::size_t kRandom = 8;
  static constexpr std::size_t kLeaders = 4;
  static constexpr double kWorthwhile = 0.01;

  // `space` must outlive this.
  LocalSearch(const space::Space& space, std::uint64_t seed, Prior prior = {})
      : space_(space), sample_(space, seed, std::move(prior)) {}

  std::string_view name() const override { return "local"; }
  // Proposes fewer than `count` if the next scores may change which neighbours are worth a try.
  std::vector<space::Configuration> ask(std::size_t count) override;
  void tell(const space::Configuration& configuration, const Feedback& feedback) override;

 private:
  void ask_neighbours(std::size_t count, std::vector<space::Configuration>& proposals);
  void ask_sample(std::size_t count, std::vector<space::Configuration>& proposals);
  std::optional<space::Configuration> draw();
  bool start_another_pass();

  const space::Space& space_;
  FirstSample sample_;
  std::size_t sample_left_ = kFirstSample;
  bool exhausted_ = false;  // nothing is left to sample
  std::optional<double> best_of_last_pass_;
  std::set<space::Configuration> proposed_;
  std::multimap<double, space::Configuration> by_score_;
};

// In [0, 1), of the 53 bits that a double holds: the same on every machine, as
// std::uniform_real_distribution's need not be.
inline double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

// Predicts a function at unseen places, and how certain the prediction is, by trees that cut at
// random places (Geurts, Ernst, Wehenkel, "Extremely randomized trees", 2006). As
// the model of a search: Hutter, Hoos, Leyton-Brown, "Sequential model-based optimization for
// general algorithm configuration", 2011.
class RegressionForest {
 public:
  static constexpr int kTrees = 32;

  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the trees' answers and of what lies in their leaves
  };

  // places[i] are the coordinates of a sample, values[i] is its value; at least one sample.
  RegressionForest(const std::vector<std::vector<double>>& places,
                   const std::vector<double>& values, std::mt19937_64& generator);

  Prediction predict(const std::vector<double>& place) const;

 private:
  struct Node {
    std::size_t coordinate = 0;
    double cut = 0;  // not above: the first child
    int first = -1;  // node; its second child is the next. -1: a leaf
    double mean = 0, variance = 0;
  };
  using Tree = std::vector<Node>;

  std::vector<Tree> trees_;
};

// Model search. Begins with a first sample, by the prior if there is one, except for a few random
// configurations. Then it proposes what a regression forest over the knobs and the prior's estimate
// favours. Each proposal of a round is the untried configuration of least mean - x * deviation, x
// drawn anew from an exponential distribution. So some proposals refine, some explore, and none
// waits for another (Hutter, Hoos, Leyton-Brown, "Parallel algorithm configuration", 2012). In a
// space of at most kWhole configurations it ranks all. In a larger one it ranks kDrawn random ones,
// the prior's next ones and the neighbours of the best. A proposal therefore costs the same in a
// space of a thousand million. The search ends with the space.
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
  void tell(const space::Configuration& configuration, const Feedback& feedback) override;
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
