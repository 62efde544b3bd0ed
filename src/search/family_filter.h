// Defers families of configurations that fail, for any strategy.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "search/failed_families.h"
#include "search/strategy.h"

namespace hone::search {

// Passes on the proposals of `strategy`, except members of a failing family (failed_families.h).
// These are deferred until a member of the family works. If the strategy proposes nothing else, the
// members of the fewest failing families come first. A learning strategy (learns()) that ends by
// itself after a success leaves the deferred ones untried.
class FamilyFilter final : public Strategy {
 public:
  // Proposals examined in one ask() to find one outside failing families.
  static constexpr std::size_t kLookedAt = 1024;
  // Likewise for a learning strategy, which does not propose deferred configurations again.
  static constexpr std::size_t kLookedAtWhileLearning = 64;

  // A strategy that predicts failures itself once something works needs no filter from then on.
  enum class Until { kEnd, kFirstSuccess };

  explicit FamilyFilter(std::unique_ptr<Strategy> strategy, Until until = Until::kEnd)
      : strategy_(std::move(strategy)), until_(until) {}

  std::string_view name() const override { return strategy_->name(); }
  std::vector<space::Configuration> ask(std::size_t count) override;
  void tell(const space::Configuration& configuration, const Outcome& outcome) override;
  void note_noise(double share) override { strategy_->note_noise(share); }
  std::optional<double> expected_gain() const override { return strategy_->expected_gain(); }

 private:
  // Moves up to `count` deferred configurations of at most `families` failing families to
  // `proposals`.
  void take_put_off(std::size_t count, std::size_t families,
                    std::vector<space::Configuration>& proposals);

  bool is_over() const { return worked_ && until_ == Until::kFirstSuccess; }

  std::unique_ptr<Strategy> strategy_;
  Until until_;
  FailedFamilies failed_;
  std::deque<space::Configuration> put_off_;  // in the strategy's order
  bool worked_ = false;
};

}  // namespace hone::search
