// What the search of one dispatch tries next, and whether to go on.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/stop_rule.h"
#include "search/strategy.h"
#include "space/space.h"
#include "tune/services/context.h"

namespace hone::tune {

// How a dispatch was searched, for people and for the store.
struct SearchNote {
  std::string strategy;      // that proposed
  std::string why;           // it was chosen; empty: the user said so
  std::size_t tried = 0;     // configurations
  std::size_t planned = 0;   // the whole space, or what the user allows
  std::string stopped = {};  // why before that; empty: the time was up, or all was tried
};

// {"strategy", "why", "tried", "planned", "stopped"}.
void to_json(nlohmann::json& json, const SearchNote& note);

// A strategy with a stop rule, or the configurations that the user gave by hand.
class DispatchSearch {
 public:
  // Begins a search of `space`, which is `provider`'s and must outlive it, for about `seconds`.
  // Tells the observer what "auto" chose. Input errors: make_strategy's.
  static Result<DispatchSearch> begin(Context& context, const provider::Provider& provider,
                                      const problem::Dispatch& dispatch, const space::Space& space,
                                      double seconds);

  // At most `count` configurations, which count as tried; none when there are no more, or when more
  // are not worth measuring: stopped(). To be asked once a round. Tells the observer that it stops.
  // Input errors of a configuration given by hand: parse_configuration's.
  Result<std::vector<space::Configuration>> propose(std::size_t count);

  // Tells the strategy what became of a proposal: its time / the default's, or the cause of its
  // failure; and that ratio's standard error, as a share, when it was measured here.
  void tell(const space::Configuration& configuration, const search::Outcome& outcome,
            std::optional<double> noise = {});

  // Whether what is proposed depends on what is told.
  bool learns() const;

  bool stopped() const { return !note_.stopped.empty(); }
  std::size_t tried() const { return note_.tried; }
  // That may be tried in all: the whole space, or what the user allows.
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

// How long a session will still search and compare, as far as its budget says, for people who wait:
// one dispatch's part of it. Seconds.
struct DispatchTime {
  double searching = 0;      // left for its search; negative when that is over its time
  double per_candidate = 0;  // that one took until now; 0: not known yet
  double candidates = 0;     // still to be tried, where the plan is limited
  double comparing = 0;      // left, or still to come, for its finalists
  double after = 0;          // for the dispatches after it
};

// Never negative. The search ends with its time or its plan, whichever is first. The proof of the
// program that may follow is not in it: nobody knows how long that runs.
double seconds_left(const DispatchTime& time);

}  // namespace hone::tune
