// Leaves the families of configurations that fail, whoever proposes.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "search/failed_families.h"
#include "search/strategy.h"

namespace hone::search {

// Passes on what `strategy` proposes, but for members of a family that fails (failed_families.h):
// they are put off until one of the family works. Where it proposes nothing else, those of the
// fewest families come first. A strategy that ends by itself once it has found something
// (learns()) leaves what is put off untried.
class FamilyFilter final : public Strategy {
 public:
  // Proposals looked at in one ask(), in search of one of no such family.
  static constexpr std::size_t kLookedAt = 1024;
  // Of a strategy that learns, which does not propose again what is put off.
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
  // Moves up to `count` of what is put off and belongs to at most `families` to `proposals`.
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
