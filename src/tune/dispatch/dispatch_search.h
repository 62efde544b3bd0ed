// The search of one dispatch: candidates of its providers are proposed, compiled and measured
// beside the default, in rounds, until time or space is used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "search/strategy.h"
#include "space/space.h"
#include "tune/dispatch/dispatch_bench.h"
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

// Share of the session that one dispatch gets.
struct Share {
  std::size_t index = 0;  // of the dispatch among those tuned
  std::size_t count = 1;
  double seconds = 0;  // for all of it, from its first compile to the libraries beside it
  double after = 0;    // for those after it, as they are known now
  // Correct candidates to find even after the search's time is over, for as long again or ten
  // seconds. Fewer where the space has no more.
  std::size_t least_right = 0;
  // Candidates of one provider that suffice for a repair once least_right of all are correct,
  // whatever time is left; 0: no repair, no limit.
  std::size_t enough = 0;
};

// Provider whose candidates are searched: the session's own, or one whose kernels may replace its
// compiler's. All share one default, and the best of each race one another. Configurations come
// from a strategy with a stop rule, or are those that the user gave.
class Contender {
 public:
  // References outlive it.
  // `compiled`: the configurations to try, instead of a search; none: a strategy proposes them, or
  // the user does.
  Contender(Context& context, const problem::Dispatch& dispatch, const provider::Provider& provider,
            space::Space space,
            std::optional<std::vector<space::Configuration>> compiled = std::nullopt)
      : context_(context),
        dispatch_(dispatch),
        provider_(provider),
        space_(std::move(space)),
        compiled_(std::move(compiled)) {}
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  const provider::Provider& provider() const { return provider_; }
  const space::Space& space() const { return space_; }

  // Begins its search, for about `seconds`. Tells the observer what "auto" chose. Input errors:
  // make_strategy's.
  Status begin(double seconds);
  bool has_begun() const { return !note_.strategy.empty(); }
  bool is_compiled() const { return compiled_.has_value(); }  // before this session

  // Returns at most `count` configurations and counts them as tried. None when the space is
  // exhausted or more are not worth measuring (stopped()). Call once per round. Tells the observer
  // that it stops. Input errors of a given configuration: parse_configuration's.
  Result<std::vector<space::Configuration>> propose(std::size_t count);
  // Learns the outcome of a proposal that is done: its time / the default's, or the cause of its
  // failure.
  void take(const space::Configuration& configuration, const Trial& trial);

  // Whether later proposals depend on earlier outcomes.
  bool learns() const;
  bool stopped() const { return !note_.stopped.empty(); }
  std::size_t tried() const { return note_.tried; }
  std::size_t left() const { return note_.planned - std::min(note_.planned, note_.tried); }
  std::size_t right() const { return right_; }       // candidates, so far
  std::size_t told() const { return told_; }         // outcomes
  double best_ratio() const { return best_ratio_; }  // of right(); infinite without one
  const SearchNote& note() const { return note_; }

  // Whether the provider is given up after kHopelessWrong wrong kernels. Its kernels may be for
  // another dispatch of the same form and compute something else. The time is better spent on
  // others.
  bool is_hopeless() const;
  std::string why_hopeless() const;
  // Most common reasons of its failures in words; empty without one.
  std::string failures() const { return failures_.words(); }

 private:
  void choose_strategy(double seconds, bool has_prior);

  Context& context_;
  const problem::Dispatch& dispatch_;
  const provider::Provider& provider_;
  const space::Space space_;
  const std::optional<std::vector<space::Configuration>> compiled_;
  std::unique_ptr<search::Strategy> strategy_;  // none where configurations are given by hand
  std::optional<search::StopRule> stop_rule_;   // of "auto"
  std::vector<double> noise_;                   // of each ratio that was measured here
  SearchNote note_;
  std::size_t told_ = 0;
  std::size_t wrong_ = 0, right_ = 0;  // of its candidates that ran, so far
  double best_ratio_ = std::numeric_limits<double>::infinity();
  std::string last_failure_;
  CommonReason failures_;
};

// Returns the contenders, providers that replace the compiler's kernels first: their estimates put
// the best first, which pays off where time is short. Configurations given by hand belong to the
// session's own provider.
Result<std::deque<Contender>> contenders_for(Context& context, const problem::Dispatch& dispatch);

// Searches the contenders' spaces one after the other.
class DispatchSearch {
 public:
  // Configuration of a contender, and its trial.
  struct Proposal {
    Contender* of = nullptr;
    space::Configuration configuration;
    Trial trial = {};
  };
  using Round = std::vector<Proposal>;

  // `contenders`: at least one, in the order of their turns. References outlive the search.
  DispatchSearch(Context& context, const problem::Dispatch& dispatch,
                 std::deque<Contender> contenders, DispatchBench& bench, const Share& share)
      : context_(context),
        dispatch_(dispatch),
        contenders_(std::move(contenders)),
        bench_(bench),
        share_(share),
        whole_(context.clock),
        clock_(context.clock) {}

  // Begins the first contender's search, before the bench is set up. Where compiling does not
  // disturb, the default and then the first round compile meanwhile. The default goes first:
  // nothing is measured without it.
  Status begin();
  // The dispatch's turn comes, now that its share is known; `whole`: since then.
  void take_turn(const Share& share, const Stopwatch& whole);
  // Searches until the time is over, once the bench is set up.
  Status run();

  // Candidates that were measured.
  std::map<store::Id, Proposal>& tried() { return tried_; }
  // Note of the first contender that was searched.
  const SearchNote& note() const { return contenders_.front().note(); }
  // Seconds of the share for the steps after the search.
  double for_finalists() const;
  double for_baselines() const;
  // Whether libraries are measured too. In a program its other dispatches need the time more.
  bool has_time_for_libraries() const;
  // Tells the observer the progress; `seconds_left` of the stage.
  void report(Stage stage, double seconds_left);

  static Trials trials_of(Round& round);

 private:
  // Begins the present contender's search, with an equal part of the time that is left.
  Status begin_turn();
  // Whether the present contender cannot beat the best candidate found so far: by its lower bound,
  // or because its own default is too far behind.
  Result<bool> cannot_win();
  // Candidates that compile side by side in so many seconds, as assumed before any is known.
  static std::size_t in_time(double seconds);
  // Candidates that were begun and whose outcome is not known.
  std::size_t outstanding() const;
  // Searches the present contender's space until clock_ reaches `seconds`.
  Status search(double seconds);
  // Whether none of the present contender's kernels is right, unless it is the session's own.
  bool is_hopeless() const;
  // Whether the present contender's first kernels are far behind another's.
  bool is_outdone() const;
  double best_of_others() const;  // ratio; infinite where none is right
  // Drops the present contender and cancels its remaining compiles.
  Status give_up();
  // Ends what compiles. What other tuners are at is still looked at.
  Status cancel_compiles();
  std::size_t right() const;  // candidates of all contenders, so far
  bool is_repair() const { return share_.enough > 0; }
  bool is_repaired() const { return is_repair() && right() >= share_.least_right; }
  std::size_t round_size(double seconds) const;
  std::size_t rounds_ahead() const;
  Status begin_round(const std::vector<space::Configuration>& proposals);
  // Seconds to wait for a round's compiles; negative: no limit.
  double patience(bool is_over) const;
  // Finishes the oldest rounds until at most `most` still compile.
  Status finish_compiling(std::size_t most, double patience);
  // Measures the round and tells the outcomes. Puts aside what still compiles after `patience`
  // seconds (negative: no limit), or belongs to another tuner.
  Status finish(Round round, double patience);
  Status pick_up();
  Status wait_for_others(double seconds);
  double seconds_to_search() const;
  std::size_t tried_configurations() const;
  const device::Traits& traits() const { return context_.options.traits(); }

  Context& context_;
  const problem::Dispatch& dispatch_;
  std::deque<Contender> contenders_;
  Contender* now_ = &contenders_.front();  // whose turn it is; none moves in a deque
  DispatchBench& bench_;
  Share share_;
  Stopwatch whole_;  // since the dispatch's turn came
  Stopwatch clock_;  // of the search
  std::size_t failed_ = 0;
  double best_ratio_ = 1;
  std::map<store::Id, Proposal> tried_;
  Round put_aside_;              // what another tuner is at, or still compiles
  std::deque<Round> compiling_;  // oldest first
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
