// Defers families of configurations that fail, for any strategy.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/strategy.h"
#include "space/space.h"

namespace hone::search {

// Families of configurations that fail for the same cause.
// Compilers reject whole families: with `cache_m = 48` and `dist_n = 49` there is no room on the
// stack, whatever the other tiles are. A family is a property that kFailures configurations which
// failed for one cause share, and that no working configuration has:
// - a knob's value (a pipeline, say) that all failures of this cause have;
// - values of two knobs that kFailures of this cause have;
// - a size, of one knob, or as a product of two or of all, from the smallest failure of this cause
//   upwards. It counts if at least kFailures configurations worked, all of them smaller.
class FailedFamilies {
 public:
  // Failures that are too many for an accident.
  static constexpr std::size_t kFailures = 3;

  void tell_worked(const space::Configuration& configuration);
  // `cause`: equal for failures of one kind; may be empty.
  void tell_failed(const space::Configuration& configuration, std::string_view cause);
  // Number of families that the configuration belongs to; 0: no known reason to fail.
  std::size_t count(const space::Configuration& configuration) const;

 private:
  using KnobValue = std::pair<std::size_t, space::Value>;  // place of a knob, its value
  using Pair = std::array<space::Value, 4>;                // of two knobs
  struct Cause {
    std::size_t failed = 0;
    std::set<KnobValue> common = {};  // of all that failed
    std::map<Pair, std::size_t> pairs = {};
    std::vector<double> least_sizes = {};
  };

  std::size_t worked_ = 0;
  std::set<KnobValue> worked_values_;
  std::set<Pair> worked_pairs_;
  std::vector<double> largest_sizes_;  // of those that worked
  std::map<std::string, Cause, std::less<>> causes_;
};

// Passes on the proposals of `strategy`, except members of a failing family.
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
