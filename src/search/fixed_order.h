// Searches in an order that no score changes: at random or by a prior. And the sample that learning
// searches begin with.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "search/strategy.h"

namespace hone::search {

// Random search: uniform, without repeats. A uniform permutation where the space can be indexed:
// Fisher-Yates over a sparse array, so that a space of millions costs memory only for what was
// drawn. Otherwise by rejection.
class RandomSearch final : public Strategy {
 public:
  // `space` must outlive this.
  RandomSearch(const space::Space& space, std::uint64_t seed)
      : space_(space), generator_(seed), remaining_(space.count().value) {}

  std::string_view name() const override { return "random"; }
  std::vector<space::Configuration> ask(std::size_t count) override;
  // Does nothing: the search does not learn.
  void tell(const space::Configuration&, const Feedback&) override {}

 private:
  std::vector<space::Configuration> ask_by_index(std::size_t count);
  std::vector<space::Configuration> ask_by_rejection(std::size_t count);
  std::uint64_t at(std::uint64_t position) const;

  const space::Space& space_;
  std::mt19937_64 generator_;
  std::uint64_t remaining_;
  std::map<std::uint64_t, std::uint64_t> moved_;  // positions whose content was swapped
  std::set<space::Configuration> seen_;
};

// Searches in the order of a prior, an estimate made before anything is measured. Proposes
// configurations in ascending order of the prior, ties in enumeration order. If a space has more
// than kMostRanked configurations or cannot be counted, kDrawn random ones are ranked at a time. A
// draw takes tens of milliseconds, and its best is among the best 0.006 % of the space.
class PriorSearch final : public Strategy {
 public:
  static constexpr std::size_t kMostRanked = std::size_t{1} << 18;
  static constexpr std::size_t kDrawn = std::size_t{1} << 14;

  // `space` must outlive this. `prior` is called once for each configuration.
  PriorSearch(const space::Space& space, std::uint64_t seed, Prior prior)
      : space_(space), random_(space, seed), prior_(std::move(prior)) {}

  std::string_view name() const override { return "prior"; }
  std::vector<space::Configuration> ask(std::size_t count) override;
  // Does nothing: outcomes do not affect the order.
  void tell(const space::Configuration&, const Feedback&) override {}

 private:
  void rank_more();

  const space::Space& space_;
  RandomSearch random_;
  Prior prior_;
  bool ranked_all_ = false;
  std::vector<space::Configuration> ranked_;
  std::size_t next_ = 0;  // in ranked_
};

// Chooses the configurations that a search tries before it knows any score. Draws configurations by
// the prior or at random. Each way may repeat a draw of the other.
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
