// What the candidates of one dispatch say about its knobs, for the HTML report.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "store/views.h"

namespace hone::output {

// A knob's values over the candidates, as a column of indices: a report of 10,000 candidates has
// few distinct values.
struct KnobColumn {
  std::string name;
  std::vector<nlohmann::json> values;  // distinct, ascending; numbers before texts
  std::vector<int> index;              // by candidate: into `values`, -1 where it has no such knob
};

// By name; none for the default and for libraries, which have no knobs. What is neither a number, a
// text nor a bool is taken as its JSON text.
std::vector<KnobColumn> knob_columns(const std::vector<const store::CandidateRow*>& candidates);

// A finalist's time in the search, before it was measured again: what candidates that are no
// finalists are compared with.
struct SearchTime {
  double seconds = 0;             // median
  std::optional<double> ratio{};  // to the default's at the same time
};
using SearchTimes = std::map<store::Id, SearchTime>;

// Another value of a knob, as it was measured. Two finalists are compared by their rounds, all
// others by their times in the search; as ratios to the default's at the same time where both have
// one, else as medians.
struct KnobChange {
  nlohmann::json value;
  store::Id candidate = 0;
  double slower = 0;  // its time / the winner's; below 1 it is faster
};

struct KnobEffect {
  std::string name;
  nlohmann::json value;  // the winner's
  // The fastest right candidate with another value of this knob, whatever its others are; nothing
  // where there is none.
  std::optional<KnobChange> best_other;
  // Candidates that differ from the winner in this knob only, ascending by value: their difference
  // is this knob's doing and nothing else's.
  std::vector<KnobChange> alone;
};

// Returns what changing each knob of the candidate in row `winner` among `candidates` costs; knobs
// that cost most come first. Knobs that have one value only are left out.
std::vector<KnobEffect> knob_effects(const std::vector<const store::CandidateRow*>& candidates,
                                     const std::vector<KnobColumn>& knobs, std::size_t winner,
                                     const SearchTimes& searched);

}  // namespace hone::output
