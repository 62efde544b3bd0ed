#include "output/report_knobs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/ranges.h"

namespace hone::output {
namespace {

using nlohmann::json;
using store::CandidateState;
using store::CandidateView;

json scalar(const json& value) {
  return value.is_number() || value.is_string() || value.is_boolean() ? value : json(value.dump());
}

bool before(const json& a, const json& b) {
  if (a.is_number() != b.is_number()) return a.is_number();
  return a < b;
}

bool is_right(const CandidateView& row) {
  return row.state == CandidateState::kMeasured && row.right.value_or(false) && row.median_seconds;
}

SearchTime search_time(const CandidateView& row, const SearchTimes& searched) {
  const auto* const found = value_at(searched, row.candidate);
  return found != nullptr ? *found : SearchTime{*row.median_seconds, row.sentinel_ratio};
}

// Returns the time of `other` / the time of `winner`.
double slower(const CandidateView& other, const CandidateView& winner,
              const SearchTimes& searched) {
  const bool finalists = other.phase == winner.phase;
  const SearchTime a = finalists ? SearchTime{*other.median_seconds, other.sentinel_ratio}
                                 : search_time(other, searched);
  const SearchTime b = finalists ? SearchTime{*winner.median_seconds, winner.sentinel_ratio}
                                 : search_time(winner, searched);
  if (a.ratio.value_or(0) > 0 && b.ratio.value_or(0) > 0) return *a.ratio / *b.ratio;
  return a.seconds / b.seconds;
}

double penalty(const KnobEffect& effect) {
  return effect.best_other ? effect.best_other->slower : 0;
}

}  // namespace

std::vector<KnobColumn> knob_columns(const std::vector<const CandidateView*>& candidates) {
  std::map<std::string, std::vector<std::optional<json>>> by_name;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const json configuration = parse_json(candidates[i]->configuration);
    if (!configuration.is_object()) continue;
    for (const auto& [name, value] : configuration.items()) {
      auto& column = by_name[name];
      column.resize(candidates.size());
      column[i] = scalar(value);
    }
  }
  std::vector<KnobColumn> knobs;
  for (auto& [name, column] : by_name) {
    std::set<json, decltype(&before)> distinct(&before);
    for (const auto& value : column)
      if (value) distinct.insert(*value);
    KnobColumn& knob = knobs.emplace_back();
    knob.name = name;
    knob.values.assign(distinct.begin(), distinct.end());
    for (const auto& value : column)
      knob.index.push_back(
          value ? static_cast<int>(std::distance(distinct.begin(), distinct.find(*value))) : -1);
  }
  return knobs;
}

std::vector<KnobEffect> knob_effects(const std::vector<const CandidateView*>& candidates,
                                     const std::vector<KnobColumn>& knobs, std::size_t winner,
                                     const SearchTimes& searched) {
  if (!is_right(*candidates[winner])) return {};
  const auto differing = [&](std::size_t other) {
    std::vector<const KnobColumn*> knobs_that_differ;
    for (const KnobColumn& knob : knobs)
      if (knob.index[other] != knob.index[winner]) knobs_that_differ.push_back(&knob);
    return knobs_that_differ;
  };
  std::map<const KnobColumn*, KnobEffect> effects;
  for (const KnobColumn& knob : knobs)
    if (knob.values.size() > 1 && knob.index[winner] >= 0)
      effects[&knob] = {
          knob.name, knob.values[static_cast<std::size_t>(knob.index[winner])], {}, {}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    // The default and libraries have no knobs to compare.
    if (!is_right(*candidates[i]) || candidates[i]->is_default ||
        candidates[i]->provider != candidates[winner]->provider)
      continue;
    const std::vector<const KnobColumn*> knobs_that_differ = differing(i);
    for (const KnobColumn* knob : knobs_that_differ) {
      const auto found = effects.find(knob);
      if (found == effects.end() || knob->index[i] < 0) continue;
      const KnobChange change{knob->values[static_cast<std::size_t>(knob->index[i])],
                              candidates[i]->candidate,
                              slower(*candidates[i], *candidates[winner], searched)};
      std::optional<KnobChange>& best = found->second.best_other;
      if (!best || change.slower < best->slower) best = change;
      if (knobs_that_differ.size() == 1) found->second.alone.push_back(change);
    }
  }
  std::vector<KnobEffect> sorted;
  for (const KnobColumn& knob : knobs) {
    auto* const found = value_at(effects, &knob);
    if (found == nullptr) continue;
    std::ranges::stable_sort(found->alone, [](const KnobChange& a, const KnobChange& b) {
      return before(a.value, b.value);
    });
    sorted.push_back(std::move(*found));
  }
  std::ranges::stable_sort(
      sorted, [](const KnobEffect& a, const KnobEffect& b) { return penalty(a) > penalty(b); });
  return sorted;
}

}  // namespace hone::output
