// Searches in the order of a prior, an estimate made before anything is measured.
#pragma once

#include <vector>

#include "search/random_search.h"

namespace hone::search {

// Proposes configurations in ascending order of the prior, ties in enumeration order. If a space
// has more than kMostRanked configurations or cannot be counted, kDrawn random ones are ranked at a
// time. A draw takes tens of milliseconds, and its best is among the best 0.006 % of the space.
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
  void tell(const space::Configuration&, const Outcome&) override {}

 private:
  void rank_more();

  const space::Space& space_;
  RandomSearch random_;
  Prior prior_;
  bool ranked_all_ = false;
  std::vector<space::Configuration> ranked_;
  std::size_t next_ = 0;  // in ranked_
};

}  // namespace hone::search
