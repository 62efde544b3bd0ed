// What a run is to do, and how its time is dealt out: the dispatches of a program, a list of GEMMs.
//
// Time goes by weight, which is what an item may still gain. An item whose part of the time would
// not even cover what trying it takes is left out, so that the others get theirs; what is not used
// is dealt out again among those that wait. One that can gain nothing is done where no other can
// either, or was asked for by its name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hone::plan {

// What is known of an item before it is measured, and after.
struct Weight {
  double share = 1;  // of the time of all items, in any unit
  // Of that, what may be gained at most: how time is dealt out. 0: what is found is of no use.
  double gain = 1;
  double needs = 0;  // seconds that trying it at all takes
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
  // Its share of the time by what this run or an earlier one found; none: nothing yet.
  std::optional<double> now = {};

  double share_now() const { return now.value_or(weight.share); }
};

class WorkPlan {
 public:
  // `everything`: no item is left out, however short the time is, as for those that a user named.
  explicit WorkPlan(bool everything) : everything_(everything) {}

  // Its place.
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

  // Leaves only the `most` items to be done that take the most time, and of these only as many as
  // together take `coverage` (0 to 1) of the time. To be called once, when they are weighed. Does
  // nothing when no item is left out in any case.
  void limit(double coverage, std::size_t most);
  // Takes up those beyond the coverage that are within it by the time that finished items take now:
  // where what took most of the time takes next to none, the rest is what matters. Whether there
  // are any.
  bool widen(double coverage);
  // Decides which of those that are not finished there is time for: one of them at least where
  // none is finished. They are asked for with next().
  void deal(double seconds_left);
  // The waiting item that may gain most; nothing when none is left.
  std::optional<std::size_t> next() const;
  // That of the others when this one is done, as far as it is known now.
  std::optional<std::size_t> next_after(std::size_t place) const;
  // Returns an item's part of the seconds that are left: what it needs, and a part of the rest by
  // its gain among those that wait.
  double seconds_for(std::size_t place, double seconds_left) const;

  const std::vector<Item>& items() const { return items_; }
  std::size_t count(State state) const;
  // Sums of weights: the shares of all items, and what those that wait may gain of them.
  double time() const;
  double gain() const;
  // The share of one item, or of those in a state for which nothing is found yet, in the time of
  // all items, 0 to 1.
  double share_of(std::size_t place) const;
  double share_of(State state) const;

  // Seconds with which no item would be left out or hurried that is among those which take
  // `coverage` (0 to 1) of the time.
  double enough_for(double coverage) const;

  // For people, before the work: what is done in which order and with how much time, what is left
  // out, and whether the seconds that are left suffice. Several lines. `what`: "dispatches",
  // "GEMMs". `part`: of the user's budget, which is for something else too, that these seconds are.
  std::string describe(const std::string& what, double seconds_left, double part = 1) const;

 private:
  std::vector<std::size_t> waiting() const;  // those that may gain most first
  std::vector<std::size_t> unknown(State state) const;  // nothing is found for them yet
  std::vector<std::size_t> heaviest(double coverage) const;

  bool everything_;
  std::vector<Item> items_;
};

// "8m 20s", "45s": as --budget takes it, rounded up to 5 seconds, above 10 minutes to minutes.
std::string as_budget(double seconds);

}  // namespace hone::plan
