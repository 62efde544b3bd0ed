// Local search: a sample, then the neighbours of the best, until none of them is untried.
#pragma once

#include <map>
#include <set>

#include "search/fixed_order.h"

namespace hone::search {

// Searches in passes of two steps: a sample of configurations, then the neighbours (one knob
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
  void tell(const space::Configuration& configuration, const Outcome& outcome) override;

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

}  // namespace hone::search
