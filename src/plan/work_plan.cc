#include "plan/work_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "plan/policy.h"

namespace hone::plan {
namespace {

// Most items that are listed one by one.
constexpr std::size_t kListed = 8;

std::string percent(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f} %", 100 * share)
                         : fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

std::size_t WorkPlan::add(Item item) {
  items_.push_back(std::move(item));
  return items_.size() - 1;
}

std::vector<std::size_t> WorkPlan::waiting() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].state == State::kWaiting) places.push_back(i);
  std::ranges::stable_sort(places, std::greater(),
                           [this](std::size_t i) { return items_[i].weight.gain; });
  return places;
}

// Drops the items with the least gain first, since each dropped item enlarges the others' shares.
// If no item is finished, at least one is kept, however short the time. A run that has finished an
// item ends when its time is up.
void WorkPlan::deal(double seconds_left) {
  for (Item& item : items_)
    if (item.state == State::kLeftOut) item.state = State::kWaiting;
  if (everything_) return;
  std::vector<std::size_t> kept = waiting();
  double gain = 0, needs = 0;
  for (const std::size_t place : kept) {
    gain += items_[place].weight.gain;
    needs += items_[place].weight.needs;
  }
  const std::size_t fewest = count(State::kFinished) > 0 ? 0 : 1;
  const bool some_gain =
      std::ranges::any_of(items_, [](const Item& item) { return item.weight.gain > 0; });
  while (kept.size() > fewest) {
    const Weight& least = items_[kept.back()].weight;
    const bool of_use = least.gain > 0 || !some_gain;
    const bool pays = seconds_left * least.gain >= kWorthwhileShare * least.needs * gain;
    const bool is_tried = least.share >= tried_from() && needs <= for_first_tries_ * seconds_left;
    if (of_use && (pays || is_tried)) break;
    gain -= least.gain;
    needs -= least.needs;
    items_[kept.back()].state = State::kLeftOut;
    kept.pop_back();
  }
}

void WorkPlan::limit(double coverage, std::size_t most) {
  if (everything_) return;
  std::vector<std::size_t> kept = heaviest(coverage, &WorkPlan::present);
  const auto keep = [&](std::size_t place) {
    if (std::ranges::count(kept, place) == 0) kept.push_back(place);
  };
  if (tries_all_first()) {
    for (const std::size_t place : heaviest(coverage, &WorkPlan::at_best)) keep(place);
    if (coverage >= kSufficientCoverage)
      for (const std::size_t place : waiting())
        if (items_[place].weight.share >= tried_from()) keep(place);
  }
  if (kept.size() > most) kept.resize(most);
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].state == State::kWaiting && std::ranges::find(kept, i) == kept.end())
      items_[i].state = State::kBeyond;
}

bool WorkPlan::widen(double coverage) {
  bool any = false;
  for (const std::size_t place : heaviest(coverage, &WorkPlan::present)) {
    if (items_[place].state != State::kBeyond) continue;
    items_[place].state = State::kWaiting;
    any = true;
  }
  return any;
}

std::optional<std::size_t> WorkPlan::next() const {
  const std::vector<std::size_t> places = waiting();
  return places.empty() ? std::nullopt : std::optional(places.front());
}

std::vector<std::size_t> WorkPlan::next_after(std::size_t place, std::size_t count) const {
  std::vector<std::size_t> places = waiting();
  std::erase(places, place);
  places.resize(std::min(places.size(), count));
  return places;
}

double WorkPlan::seconds_for(std::size_t place, double seconds_left) const {
  double gain = 0, least = 0, needs = 0;
  const std::vector<std::size_t> places = waiting();
  for (const std::size_t each : places) {
    gain += items_[each].weight.gain;
    least += at_best(each);
    needs += items_[each].weight.needs;
  }
  const Weight& weight = items_.at(place).weight;
  const double part = tries_all_first() && least > 0 ? at_best(place) / least
                      : gain > 0                     ? weight.gain / gain
                                                     : 1.0 / static_cast<double>(places.size());
  // Too little time for all: split it in proportion to what each item needs.
  if (needs >= seconds_left)
    return needs > 0 ? std::max(0.0, seconds_left) * weight.needs / needs : 0;
  return weight.needs + (seconds_left - needs) * part;
}

std::size_t WorkPlan::count(State state) const {
  return static_cast<std::size_t>(std::ranges::count(items_, state, &Item::state));
}

double WorkPlan::time() const {
  double all = 0;
  for (const Item& item : items_) all += item.weight.share;
  return all;
}

double WorkPlan::time_at_best() const {
  double all = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) all += at_best(i);
  return all;
}

double WorkPlan::tried_from() const {
  return kTriedShare * time_at_best();
}

double WorkPlan::gain() const {
  double all = 0;
  for (const std::size_t place : waiting()) all += items_[place].weight.gain;
  return all;
}

double WorkPlan::share_of(std::size_t place) const {
  const double all = time();
  return all > 0 ? items_.at(place).weight.share / all : 0;
}

double WorkPlan::share_of(State state) const {
  double share = 0;
  for (const std::size_t place : unknown(state)) share += share_of(place);
  return share;
}

std::vector<std::size_t> WorkPlan::unknown(State state) const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].state == state && !items_[i].now) places.push_back(i);
  return places;
}

std::vector<std::size_t> WorkPlan::heaviest(double coverage,
                                            double (WorkPlan::*share)(std::size_t) const) const {
  std::vector<std::size_t> places(items_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto of = [&](std::size_t i) { return (this->*share)(i); };
  std::ranges::stable_sort(places, std::greater(), of);
  double all = 0, covered = 0;
  for (const std::size_t place : places) all += of(place);
  std::size_t count = 0;
  while (count < places.size() && covered < coverage) {
    const std::size_t place = places[count++];
    covered += all > 0 ? of(place) / all : 0;
  }
  places.resize(count);
  return places;
}

double WorkPlan::enough_for(double coverage) const {
  constexpr double kAll = 2;
  const std::vector<std::size_t> places =
      heaviest(everything_ ? kAll : coverage, &WorkPlan::present);
  double needs = 0;
  for (const std::size_t place : places)
    if (items_[place].state != State::kBeyond && items_[place].weight.gain > 0)
      needs += items_[place].weight.needs;
  return needs;
}

std::string WorkPlan::describe(const std::string& what, double seconds_left, double part) const {
  const std::vector<std::size_t> places = waiting();
  std::string text = fmt::format("plan: {} of {} {}, those with most to gain first", places.size(),
                                 items_.size(), what);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == kListed) {
      text += fmt::format("\n  and {} more", places.size() - kListed);
      break;
    }
    text += fmt::format("\n  {:>6} of their time, {:3.0f} s: {}", percent(share_of(places[i])),
                        seconds_for(places[i], seconds_left), items_[places[i]].name);
  }
  if (const std::size_t finished = count(State::kFinished); finished > 0)
    text += fmt::format("\n  {} were finished before", finished);
  const auto found = [&](const Item& item) {
    return item.now && (item.state == State::kLeftOut || item.state == State::kBeyond);
  };
  if (const auto known = std::ranges::count_if(items_, found); known > 0)
    text += fmt::format("\n  {} keep what an earlier run found", known);
  if (const std::size_t left = unknown(State::kLeftOut).size(); left > 0)
    text += fmt::format("\n  {} keep their defaults, {} of the time together", left,
                        percent(share_of(State::kLeftOut)));
  if (const std::size_t beyond = unknown(State::kBeyond).size(); beyond > 0)
    text += fmt::format("\n  {} are not asked for, {} of the time together", beyond,
                        percent(share_of(State::kBeyond)));
  const double enough = enough_for(kSufficientCoverage);
  const std::string budget = sufficient_budget(seconds_left, part);
  if (enough > seconds_left)
    text += fmt::format(
        "\nthe budget is too small: preparing, a few candidates of each and telling them apart "
        "take "
        "about {:.0f} s for {}, and there are {:.0f}{}",
        enough, everything_ ? "all of them" : percent(kSufficientCoverage) + " of the time",
        seconds_left, budget.empty() ? budget : fmt::format("; --budget {} would do", budget));
  return text;
}

std::string WorkPlan::sufficient_budget(double seconds_left, double part) const {
  const double enough = enough_for(kSufficientCoverage);
  return enough > seconds_left && part > 0 ? as_budget(enough / part) : "";
}

std::string as_budget(double seconds) {
  constexpr double kStep = 5, kMinute = 60, kWholeMinutes = 600;
  if (seconds > kWholeMinutes) return fmt::format("{:.0f}m", std::ceil(seconds / kMinute));
  return fmt::format("{:.0f}s", std::ceil(seconds / kStep) * kStep);
}

}  // namespace hone::plan
