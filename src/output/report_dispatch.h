// Dispatch of the HTML report: its figures, its candidates column by column, and the effects of
// knob values over them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/json_text.h"
#include "output/measured_dispatch.h"

namespace hone::output {

// Time of a finalist in the search, before its own rounds. Candidates that are no finalists are
// compared with this one.
struct SearchTime {
  double seconds = 0;             // median
  std::optional<double> ratio{};  // to the default's at the same time
};
using SearchTimes = std::map<store::Id, SearchTime>;

// Distinct texts in order of appearance, and the index of each.
class Words {
 public:
  std::size_t index(const std::string& word) {
    const auto [found, is_new] = indices_.try_emplace(word, words_.size());
    if (is_new) words_.push_back(word);
    return found->second;
  }
  const Json& list() const { return words_; }

 private:
  Json words_ = Json::array();
  std::map<std::string, std::size_t> indices_;
};

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
//   knobs                                      [{name, values, index}]
nlohmann::ordered_json report_dispatch(const store::DispatchView& row,
                                       const std::vector<store::CandidateView>& candidates,
                                       const SearchTimes& searched, const Peaks& peaks);

}  // namespace hone::output
