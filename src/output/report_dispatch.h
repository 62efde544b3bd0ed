// Dispatch of the HTML report: its figures, its candidates column by column, and the effects of
// knob values over them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/measured_dispatch.h"

namespace hone::output {

// Column of a knob's values by candidate, stored as indices: a report of 10,000 candidates has few
// distinct values.
struct KnobColumn {
  std::string name;
  std::vector<nlohmann::json> values;  // distinct, ascending; numbers before texts
  std::vector<int> index;              // by candidate: into `values`, -1 where it has no such knob
};

// Returns the columns sorted by name; the default and libraries have no knobs. Values that are
// neither number, text nor bool are kept as their JSON text.
std::vector<KnobColumn> knob_columns(const std::vector<const store::CandidateView*>& candidates);

// Time of a finalist in the search, before its own rounds. Candidates that are no finalists are
// compared with this one.
struct SearchTime {
  double seconds = 0;             // median
  std::optional<double> ratio{};  // to the default's at the same time
};
using SearchTimes = std::map<store::Id, SearchTime>;

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

// Returns the cost of changing each knob of the candidate in row `winner` among `candidates`; the
// most costly knobs come first. Skips knobs with a single value.
std::vector<KnobEffect> knob_effects(const std::vector<const store::CandidateView*>& candidates,
                                     const std::vector<KnobColumn>& knobs, std::size_t winner,
                                     const SearchTimes& searched);

// Rounds to six significant digits: no measurement is more exact, and it saves two thirds of the
// characters.
nlohmann::ordered_json rounded(std::optional<double> value);

// Returns the data of a dispatch under one build on one device, for src/output/report/*.js.
// `candidates` and `searched` are those of the whole store; others and vendors' libraries are
// ignored. Times are seconds of one launch, rates per second. Candidates are arrays of equal
// length, by candidate:
//   id, provider, state, set, phase, failure   the last five are indices into the lists beside them
//   seconds, low, high, ratio                  median, its 95 % interval, over the default's; null
//   searched                                   a finalist's median in the search, else null
//   code                                       number of its code in the order of ids; -1 without
//   knobs                                      [{name, values, index}] (knob_columns())
nlohmann::ordered_json report_dispatch(const store::DispatchView& row,
                                       const std::vector<store::CandidateView>& candidates,
                                       const SearchTimes& searched, const Peaks& peaks);

}  // namespace hone::output
