// Dispatch of the HTML report: its figures, and its candidates column by column.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "output/measured_dispatch.h"
#include "output/report_knobs.h"

namespace hone::output {

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
//   knobs                                      [{name, values, index}] (report_knobs.h)
nlohmann::ordered_json report_dispatch(const store::DispatchView& row,
                                       const std::vector<store::CandidateView>& candidates,
                                       const SearchTimes& searched, const Peaks& peaks);

}  // namespace hone::output
