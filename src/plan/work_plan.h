// Plans a run and splits its time among items: the dispatches of a program, a list of GEMMs.
//
// Time is split by weight, an item's potential gain. An item whose share would not cover the cost
// of trying it is skipped, which leaves its share to the others. Where trying is cheap, every item
// that takes 0.1 % of what all take at best is tried first. The first tries then bring most of the
// gain, so what is left of the time is split by what each item takes at best. Unused time is
// redistributed among the waiting items. An item without potential gain is tuned only if no item
// has any, or if the user named it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hone::plan {

// Estimates for an item, before and after it is measured.
struct Weight {
  double share = 1;  // of the time of all items, in any unit
  // Upper bound of the gain, a part of `share`; time is split by it. 0: a result is of no use.
  double gain = 1;
  double needs = 0;  // seconds that trying it at all takes

  // Share that is left once the whole gain is reached.
  double least() const { return share - gain; }
};

enum class State {
  kWaiting,
  kLeftOut,   // not worth its time by this budget
  kBeyond,    // not among those that limit() keeps
  kFinished,  // by this run or an earlier one, or found not to be tunable
};

struct Item {
  std::string name;
  Weight weight = {};
  State state = State::kWaiting;
  // Share of the time with the result of this run or an earlier one; none: no result yet.
  std::optional<double> now = {};

  double share_now() const { return now.value_or(weight.share); }
};

class WorkPlan {
 public:
  // `everything`: no item is skipped, however short the time, as for items that the user named.
  // `for_first_tries`: share of the time that trying items may need before gain decides.
  explicit WorkPlan(bool everything, double for_first_tries = 0)
      : everything_(everything), for_first_tries_(for_first_tries) {}

  // Adds an item and returns its place.
  std::size_t add(Item item);
  // `now`: Item::now.
  void weigh(std::size_t place, const Weight& weight, std::optional<double> now = {}) {
    items_.at(place).weight = weight;
    items_.at(place).now = now;
  }
  // `now`: Item::now.
  void finish(std::size_t place, std::optional<double> now = {}) {
    items_.at(place).state = State::kFinished;
    items_.at(place).now = now;
  }

  // Keeps the heaviest items that together take `coverage` (0 to 1) of the time, at most `most` of
  // them; where trying is cheap, those too that take as much of it once each is at its best, and
  // for a coverage of kSufficientCoverage all that are worth a try. Call it once, after weighing
  // the items. Does nothing if the plan takes everything.
  void limit(double coverage, std::size_t most);
  // Re-admits items beyond the coverage that are within it by the present times of finished items:
  // once the heaviest items take next to no time, the rest matters. Returns whether there are any.
  bool widen(double coverage);
  // Decides which unfinished items there is time for: at least one if none is finished. next()
  // returns them.
  void deal(double seconds_left);
  // Waiting items, those with the largest potential gain first.
  std::vector<std::size_t> waiting() const;
  // The first of them; nullopt if none is left.
  std::optional<std::size_t> next() const;
  // At most `count` items that come next once the one at `place` is done, as far as known now.
  std::vector<std::size_t> next_after(std::size_t place, std::size_t count) const;
  // Returns an item's share of the remaining seconds: the time it needs, and a share of the rest by
  // its gain among the waiting items, or by what they take at best.
  double seconds_for(std::size_t place, double seconds_left) const;

  const std::vector<Item>& items() const { return items_; }
  std::size_t count(State state) const;
  // Sums of weights: the shares of all items, and the potential gains of the waiting ones.
  double time() const;
  double gain() const;
  // Share, 0 to 1, of an item in the time of all items, or of all items in `state` that have no
  // result yet.
  double share_of(std::size_t place) const;
  double share_of(State state) const;

  // Seconds that suffice to tune the items within `coverage` (0 to 1) of the time without skipping
  // or hurrying any.
  double enough_for(double coverage) const;

  // Returns the --budget that suffices for most of the time: "40s". Empty if `seconds_left` does,
  // or if `part` is 0. `part`: as for describe().
  std::string sufficient_budget(double seconds_left, double part) const;

  // Describes the plan for people, before the work, in several lines: order and time of the items,
  // skipped items, and whether the remaining seconds suffice. `what`: "dispatches", "GEMMs".
  // `part`: the share of the user's budget that these seconds are; the rest serves another purpose.
  std::string describe(const std::string& what, double seconds_left, double part = 1) const;

 private:
  std::vector<std::size_t> unknown(State state) const;  // nothing is found for them yet
  double present(std::size_t place) const { return items_[place].share_now(); }
  double at_best(std::size_t place) const { return items_[place].weight.least(); }
  double time_at_best() const;
  // Share of the time from which an item is tried where trying is cheap.
  double tried_from() const;
  // The heaviest by their `share`, until they take `coverage` of all.
  std::vector<std::size_t> heaviest(double coverage,
                                    double (WorkPlan::*share)(std::size_t) const) const;
  bool tries_all_first() const { return for_first_tries_ > 0; }

  bool everything_;
  double for_first_tries_;
  std::vector<Item> items_;
};

// "8m 20s", "45s": as --budget takes it, rounded up to 5 seconds, above 10 minutes to minutes.
std::string as_budget(double seconds);

}  // namespace hone::plan
