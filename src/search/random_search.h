// Random search: uniform, without repeats.
#pragma once

#include <map>
#include <random>
#include <set>

#include "search/strategy.h"

namespace hone::search {

// A uniform permutation where the space can be indexed: Fisher-Yates over a sparse array, so that
// a space of millions costs memory only for what was drawn. Otherwise by rejection.
class RandomSearch final : public Strategy {
 public:
  // `space` must outlive this.
  RandomSearch(const space::Space& space, std::uint64_t seed)
      : space_(space), generator_(seed), remaining_(space.count().value) {}

  std::string_view name() const override { return "random"; }
  std::vector<space::Configuration> ask(std::size_t count) override;
  // Does nothing: the search does not learn.
  void tell(const space::Configuration&, const Outcome&) override {}

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

}  // namespace hone::search
