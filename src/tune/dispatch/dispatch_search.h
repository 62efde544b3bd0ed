// Proposes the next configurations of one dispatch, and decides when to stop.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/strategy.h"
#include "space/space.h"
#include "tune/services/context.h"

namespace hone::tune {

// Summary of a dispatch's search, for people and for the store.
struct SearchNote {
  std::string strategy;      // that proposed
  std::string why;           // it was chosen; empty: the user said so
  std::size_t tried = 0;     // configurations
  std::size_t planned = 0;   // the whole space, or what the user allows
  std::string stopped = {};  // why before that; empty: the time was up, or all was tried
};

// {"strategy", "why", "tried", "planned", "stopped"}.
void to_json(nlohmann::json& json, const SearchNote& note);

// Search by a strategy with a stop rule, or through the configurations that the user gave.
class DispatchSearch {
 public:
  // Begins a search of `space` (of `provider`; must outlive the search) for about `seconds`. Tells
  // the observer what "auto" chose. Input errors: make_strategy's.
  static Result<DispatchSearch> begin(Context& context, const provider::Provider& provider,
                                      const problem::Dispatch& dispatch, const space::Space& space,
                                      double seconds);

  // Returns at most `count` configurations and counts them as tried. None when the space is
  // exhausted or more are not worth measuring (stopped()). Call once per round. Tells the observer
  // that it stops. Input errors of a given configuration: parse_configuration's.
  Result<std::vector<space::Configuration>> propose(std::size_t count);

  // Tells the strategy the outcome of a proposal: its time / the default's, or the cause of its
  // failure. `noise`: the ratio's relative standard error, if it was measured here.
  void tell(const space::Configuration& configuration, const search::Outcome& outcome,
            std::optional<double> noise = {});

  // Whether later proposals depend on earlier outcomes.
  bool learns() const;

  bool stopped() const { return !note_.stopped.empty(); }
  std::size_t tried() const { return note_.tried; }
  // Configurations to try at most: the whole space, or the user's limit.
  std::size_t planned() const { return note_.planned; }
  const SearchNote& note() const { return note_; }

 private:
  DispatchSearch(Context& context, const problem::Dispatch& dispatch, const space::Space& space)
      : context_(context), dispatch_(dispatch), space_(space) {}

  void choose_strategy(double seconds, bool has_prior);

  Context& context_;
  const problem::Dispatch& dispatch_;
  const space::Space& space_;
  std::unique_ptr<search::Strategy> strategy_;  // none where configurations are given by hand
  std::optional<search::StopRule> stop_rule_;   // of "auto"
  std::vector<double> noise_;                   // of each that was told
  SearchNote note_;
};

// Remaining search and comparison time of a session, as far as its budget tells: the part of one
// dispatch, in seconds. For display.
struct DispatchTime {
  double searching = 0;      // left for its search; negative when that is over its time
  double per_candidate = 0;  // that one took until now; 0: not known yet
  double candidates = 0;     // still to be tried, where the plan is limited
  double comparing = 0;      // left, or still to come, for its finalists
  double after = 0;          // for the dispatches after it
};

// Estimates the remaining seconds; never negative. The search ends with its time or its plan,
// whichever is first. Excludes the proof of the program, whose duration is unknown.
double seconds_left(const DispatchTime& time);

}  // namespace hone::tune
