#include "output/report_dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/ranges.h"
#include "output/json_text.h"

namespace hone::output {
namespace {

using store::CandidateView;

using nlohmann::json;

// Column of a knob's values by candidate, stored as indices: a report of 10,000 candidates has few
// distinct values.
struct KnobColumn {
  std::string name;
  std::vector<nlohmann::json> values;  // distinct, ascending; numbers before texts
  std::vector<int> index;              // by candidate: into `values`, -1 where it has no such knob
};

// Measured effect of another value of a knob. Two finalists are compared by their rounds, all
// others by their times in the search. Both are ratios to the default at the same time if there is
// one for each, else medians.
struct KnobChange {
  nlohmann::json value;
  store::Id candidate = 0;
  double slower = 0;  // its time / the winner's; below 1 it is faster
};

struct KnobEffect {
  std::string name;
  nlohmann::json value;  // the winner's
  // Fastest right candidate with another value of this knob, whatever its other values; none if
  // there is none.
  std::optional<KnobChange> best_other;
  // Candidates that differ from the winner in this knob only, ascending by value: only the knob
  // explains their difference.
  std::vector<KnobChange> alone;
};

json scalar(const json& value) {
  return value.is_number() || value.is_string() || value.is_boolean() ? value : json(value.dump());
}

bool before(const json& a, const json& b) {
  if (a.is_number() != b.is_number()) return a.is_number();
  return a < b;
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
// Returns the columns sorted by name; the default and libraries have no knobs. Values that are
// neither number, text nor bool are kept as their JSON text.
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

// Returns the cost of changing each knob of the candidate in row `winner` among `candidates`; the
// most costly knobs come first. Skips knobs with a single value.
std::vector<KnobEffect> knob_effects(const std::vector<const CandidateView*>& candidates,
                                     const std::vector<KnobColumn>& knobs, std::size_t winner,
                                     const SearchTimes& searched) {
  if (!is_measured_right(*candidates[winner])) return {};
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
    if (!is_measured_right(*candidates[i]) || candidates[i]->is_default ||
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
    std::ranges::stable_sort(found->alone, before, &KnobChange::value);
    sorted.push_back(std::move(*found));
  }
  std::ranges::stable_sort(sorted, std::greater(), penalty);
  return sorted;
}

using Rows = std::vector<const CandidateView*>;

// Longest failure message (bytes); what follows is a compiler's dump of its own state.
constexpr std::size_t kMostMessageBytes = 4000;
// Number of messages of one kind that are shown; the rest is counted.
constexpr std::size_t kMostMessages = 20;

struct FailureGroup {
  std::string kind, message;
  std::int64_t count = 0;
  store::Id example = 0;
};

// Failures grouped by kind and message, the most frequent first. The rare ones beyond kMostMessages
// of a kind are one group.
class Failures {
 public:
  explicit Failures(const Rows& rows) {
    std::map<std::pair<std::string, std::string>, FailureGroup> found;
    for (const CandidateView* row : rows) {
      if (!has_failed(*row)) continue;
      FailureGroup& group = found[key(*row)];
      if (group.count++ == 0) group.example = row->candidate;
    }
    for (auto& [key, group] : found) {
      std::tie(group.kind, group.message) = key;
      groups_.push_back(std::move(group));
    }
    std::ranges::stable_sort(groups_, std::greater(), &FailureGroup::count);
    put_rare_ones_together();
    for (std::size_t i = 0; i < groups_.size(); ++i)
      indices_[{groups_[i].kind, groups_[i].message}] = i;
  }

  static bool has_failed(const CandidateView& row) {
    return row.state == store::CandidateState::kFailed ||
           row.state == store::CandidateState::kWrong;
  }

  int index(const CandidateView& row) const {
    if (!has_failed(row)) return -1;
    const auto found = indices_.find(key(row));
    return static_cast<int>(
        (found != indices_.end() ? found : indices_.find({key(row).first, kOthers}))->second);
  }

  Json json() const {
    Json list = Json::array();
    for (const FailureGroup& group : groups_)
      list.push_back({{"kind", group.kind},
                      {"message", group.message},
                      {"count", group.count},
                      {"example", group.example}});
    return list;
  }

 private:
  static constexpr const char* kOthers = "(other words)";

  static std::pair<std::string, std::string> key(const CandidateView& row) {
    const std::string kind = row.failure_kind.empty() ? "wrong" : row.failure_kind;
    std::string message = row.failure_message;
    if (message.empty() && row.bad_index)
      message = fmt::format("outside its tolerance: {:.3g} % of the elements ({})",
                            100 * row.share_bad.value_or(0), row.tolerance);
    if (message.size() > kMostMessageBytes) message = message.substr(0, kMostMessageBytes) + " ...";
    return {kind, message};
  }

  void put_rare_ones_together() {
    std::map<std::string, std::size_t> kept;
    std::map<std::string, FailureGroup> others;
    std::vector<FailureGroup> groups;
    for (FailureGroup& group : groups_) {
      if (++kept[group.kind] <= kMostMessages) {
        groups.push_back(std::move(group));
        continue;
      }
      FailureGroup& rest = others[group.kind];
      if (rest.count == 0) rest = {group.kind, kOthers, 0, group.example};
      rest.count += group.count;
    }
    for (auto& [kind, rest] : others) groups.push_back(std::move(rest));
    groups_ = std::move(groups);
  }

  std::vector<FailureGroup> groups_;
  std::map<std::pair<std::string, std::string>, std::size_t> indices_;
};

Json columns(const Rows& rows, const std::vector<KnobColumn>& knobs, const Failures& failures,
             const SearchTimes& searched) {
  Words providers, states, sets, phases;
  std::map<std::string, std::size_t> codes;
  Json table;
  for (const char* const column : {"id", "provider", "state", "set", "phase", "failure", "seconds",
                                   "low", "high", "ratio", "code", "searched", "knobs"})
    table[column] = Json::array();
  for (const CandidateView* row : rows) {
    table["id"].push_back(row->candidate);
    table["provider"].push_back(providers.index(row->provider));
    table["state"].push_back(states.index(std::string(store::name_of(row->state))));
    table["set"].push_back(sets.index(row->constraint_set));
    table["phase"].push_back(phases.index(row->phase));
    table["failure"].push_back(failures.index(*row));
    table["seconds"].push_back(rounded(row->median_seconds));
    table["low"].push_back(rounded(row->low_seconds));
    table["high"].push_back(rounded(row->high_seconds));
    table["ratio"].push_back(rounded(row->sentinel_ratio));
    const auto* const found = value_at(searched, row->candidate);
    table["searched"].push_back(found != nullptr ? rounded(found->seconds) : Json());
    table["code"].push_back(
        row->identity.empty()
            ? -1
            : static_cast<int>(codes.try_emplace(row->identity, codes.size()).first->second));
  }
  for (const KnobColumn& knob : knobs)
    table["knobs"].push_back({{"name", knob.name}, {"values", knob.values}, {"index", knob.index}});
  table["providers"] = providers.list();
  table["states"] = states.list();
  table["sets"] = sets.list();
  table["phases"] = phases.list();
  return table;
}

Json change_json(const KnobChange& change) {
  return {
      {"value", change.value}, {"candidate", change.candidate}, {"slower", rounded(change.slower)}};
}

Json effects_json(const Rows& rows, const std::vector<KnobColumn>& knobs, store::Id winner,
                  const SearchTimes& searched) {
  Json list = Json::array();
  const auto found = std::ranges::find_if(
      rows, [winner](const CandidateView* row) { return row->candidate == winner; });
  if (found == rows.end()) return list;
  for (const KnobEffect& effect :
       knob_effects(rows, knobs, static_cast<std::size_t>(found - rows.begin()), searched)) {
    Json alone = Json::array();
    for (const KnobChange& change : effect.alone) alone.push_back(change_json(change));
    list.push_back({{"name", effect.name},
                    {"value", effect.value},
                    {"best_other", effect.best_other ? change_json(*effect.best_other) : Json()},
                    {"alone", alone}});
  }
  return list;
}

Json library_json(const MeasuredDispatch& dispatch, const std::optional<CandidateView>& library,
                  std::string_view name) {
  if (!library || !library->median_seconds) return {};
  return {{"name", name},
          {"candidate", library->candidate},
          {"seconds", rounded(library->median_seconds)},
          {"over_tuned", rounded(library_over_tuned(dispatch, library))}};
}

// Returns the id of the default, measured or not.
Json default_id(const store::DispatchView& row, const Rows& rows) {
  if (row.default_row) return row.default_row->candidate;
  const auto found =
      std::ranges::find_if(rows, [](const CandidateView* each) { return each->is_default; });
  return found == rows.end() ? Json() : Json((*found)->candidate);
}

Json roofline_json(const MeasuredDispatch& dispatch, const Peaks& peaks) {
  const store::DispatchView& row = dispatch.row;
  return {{"peak_flops", rounded(compute_peak(row, peaks))},
          {"matrix_units", runs_on_matrix_units(row)},
          {"bandwidth", rounded(peaks.bandwidth)},
          {"least_seconds", rounded(roofline_seconds(row, peaks))},
          {"intensity",
           row.bound_bytes > 0 && row.flops > 0 ? rounded(row.flops / row.bound_bytes) : Json()}};
}

Json selection_json(const store::SelectionRow& selection) {
  return {{"winner", or_null(selection.winner)}, {"ties", selection.ties},
          {"shipped", selection.shipped},        {"reason", selection.reason},
          {"run", or_null(selection.run)},       {"when", selection.when}};
}

}  // namespace

Json rounded(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return {};
  return std::stod(fmt::format("{:.6g}", *value));
}

Json report_dispatch(const store::DispatchView& row, const std::vector<CandidateView>& candidates,
                     const SearchTimes& searched, const Peaks& peaks) {
  const MeasuredDispatch dispatch = measured_dispatch(row, candidates);
  Rows rows;
  for (const CandidateView& candidate : candidates)
    if (is_of(candidate, row) && !is_library(candidate)) rows.push_back(&candidate);
  const std::vector<KnobColumn> knobs = knob_columns(rows);
  const Failures failures(rows);
  Json libraries = Json::array();
  for (const LibraryRows& each : dispatch.libraries)
    for (const Json& library : {library_json(dispatch, each.only, each.title),
                                library_json(dispatch, each.first, each.title + "'s choice"),
                                library_json(dispatch, each.best, each.title + "'s best")})
      if (!library.is_null()) libraries.push_back(library);
  return {{"id", row.dispatch},
          {"name", row.name},
          {"operation", row.operation},
          {"kind", row.kind},
          {"build", row.build},
          {"device", or_null(row.device)},
          {"flops", row.flops},
          {"bytes", row.bound_bytes},
          {"beaten", dispatch.beaten},
          {"default", default_id(row, rows)},
          {"default_seconds", rounded(dispatch.default_seconds)},
          {"best", row.best ? Json(row.best->candidate) : Json()},
          {"best_configuration", row.best ? parsed(row.best->configuration) : Json()},
          {"best_configured", row.best ? Json(row.best->configured) : Json()},
          {"tuned_seconds", rounded(dispatch.tuned_seconds)},
          {"worst_seconds", rounded(dispatch.worst_seconds)},
          {"speedup", rounded(row.speedup)},
          {"speedup_low", rounded(row.speedup_low)},
          {"speedup_high", rounded(row.speedup_high)},
          {"selection", row.selection ? selection_json(*row.selection) : Json()},
          {"counts",
           {{"tried", dispatch.counts.tried},
            {"compiled", dispatch.counts.compiled},
            {"right", dispatch.counts.right},
            {"wrong", dispatch.counts.wrong},
            {"not_run", dispatch.counts.not_run},
            {"failed", dispatch.counts.failed},
            {"reason", dispatch.counts.reasons.words()}}},
          {"libraries", libraries},
          {"roofline", roofline_json(dispatch, peaks)},
          {"failures", failures.json()},
          {"effects",
           row.best ? effects_json(rows, knobs, row.best->candidate, searched) : Json::array()},
          {"candidates", columns(rows, knobs, failures, searched)}};
}

}  // namespace hone::output
