#include "tune/dispatch/dispatch_tuner.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/stopwatch.h"
#include "base/text.h"
#include "measure/reference.h"
#include "plan/policy.h"
#include "space/configuration.h"
#include "tune/dispatch/baselines.h"
#include "tune/dispatch/dispatch_weight.h"
#include "tune/dispatch/finalists.h"
#include "tune/dispatch/shipped_kernels.h"

namespace hone::tune {
namespace {

// Whether the failure counts as a wrong kernel. Compile errors and excessive memory say nothing
// about other configurations.
bool is_no_right_kernel(provider::FailureKind kind) {
  using enum provider::FailureKind;
  return kind == kWrong || kind == kKernelCrash || kind == kKernelTimeout;
}
// Returns a failure's cause without numbers, which makes failures of one kind equal.
std::string cause_of(const provider::Failure& failure) {
  return fmt::format("{}: {}", provider::name_of(failure.kind),
                     without_numbers(hone::reason_of(failure.message)));
}

std::string reason_of(measure::Won won, std::size_t tied) {
  if (won == measure::Won::kSeparated) return "faster than every other finalist";
  if (won == measure::Won::kByName)
    return fmt::format("first by name of {} that are within 1 % of the best", tied);
  return fmt::format("the fastest by estimate of {} that are not told apart", tied);
}

// Provider whose candidates are searched: the session's own, or one whose kernels may replace its
// compiler's. All share one default, and the best of each race one another.
struct Contender {
  const provider::Provider* provider = nullptr;
  space::Space space;
  std::optional<DispatchSearch> search = {};  // of `space`, since its turn came
  std::size_t wrong = 0, right = 0;           // of its candidates that ran, so far
  std::string last_failure = {};
  CommonReason failures = {};

  // Whether the provider is given up after kHopelessWrong wrong kernels. Its kernels may be for
  // another dispatch of the same form and compute something else. The time is better spent on
  // others.
  bool is_hopeless() const { return right == 0 && wrong >= plan::kHopelessWrong; }
};

class DispatchTuner {
 public:
  // `contenders`: at least one, in the order of their turns.
  DispatchTuner(Context& context, const problem::Dispatch& dispatch,
                std::deque<Contender> contenders, DispatchBench bench, const Share& share,
                const Stopwatch& whole, const measure::ProblemRequest* next)
      : context_(context),
        dispatch_(dispatch),
        contenders_(std::move(contenders)),
        bench_(std::move(bench)),
        share_(share),
        whole_(whole),
        next_(next),
        clock_(context.clock) {}

  Result<TunedDispatch> tune() {
    HONE_TRY(begin_search());
    HONE_TRY(bench_.set_up());
    if (next_ != nullptr) HONE_TRY(bench_.expect(*next_));
    clock_ = Stopwatch(context_.clock);
    const double seconds = seconds_to_search();
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      now_ = &contenders_[i];
      HONE_ASSIGN(const bool hopeless, cannot_win());
      if (hopeless) continue;
      // Redistributes time that a contender leaves unused to the later ones.
      const auto left = static_cast<double>(contenders_.size() - i);
      const double part =
          std::max(least_search_seconds(traits()), (seconds - clock_.seconds()) / left);
      if (i > 0) HONE_TRY(begin_search());
      HONE_TRY(search(clock_.seconds() + part));
    }
    if (const std::string note = bench_.differing_devices(); !note.empty()) {
      context_.observer.warn(note);
      HONE_TRY(context_.store.log_event("devices differ", note));
    }
    std::vector<store::Id> finalists = this->finalists();
    HONE_TRY(add_shipped_forms(finalists));
    if (finalists.empty())
      return keep_default(default_is_wrong() ? "no candidate is right, and neither is the default"
                                             : "no candidate is right and faster than the default");
    HONE_TRY(separate(finalists));
    return select();
  }

  // Note of the first contender that was searched.
  const SearchNote& search_note() const { return contenders_.front().search->note(); }

  // Whether the contender cannot beat the best candidate found so far.
  Result<bool> cannot_win() {
    if (tried_.empty() || !context_.state->peak) return false;
    const double least = now_->provider->least_seconds(dispatch_, *context_.state->peak);
    const double found = best_ratio_ * bench_.default_seconds();
    if (least * plan::kBeyondHope < found) return false;
    const std::string why = fmt::format(
        "{}: of {} no kernel takes less than {}, and one of {} was found", dispatch_.name,
        now_->provider->name(), format_duration(least), format_duration(found));
    context_.observer.note("not searched: " + why);
    HONE_TRY(context_.store.log_event("not searched", why));
    return true;
  }

  Status compare_with_libraries(std::optional<store::Id> winner) {
    const auto span = context_.spend(trial::Activity::kBaselines);
    HONE_ASSIGN(const std::string why_not, measure_baselines(context_, bench_, winner));
    if (!why_not.empty())
      HONE_TRY(
          context_.store.log_event("no baseline", fmt::format("{}: {}", dispatch_.name, why_not)));
    return {};
  }

 private:
  // Configuration of a contender, and its trial.
  struct Proposal {
    Contender* of = nullptr;
    space::Configuration configuration;
    Trial trial = {};
  };
  using Round = std::vector<Proposal>;

  static Trials trials_of(Round& round) {
    Trials trials;
    for (Proposal& each : round) trials.push_back(&each.trial);
    return trials;
  }

  // Starts the search. Where compiling does not disturb, the default and then the first round
  // compile while the device is set up. The default goes first: nothing is measured without it.
  Status begin_search() {
    const Options& options = context_.options;
    // Choose the strategy by the contender's share of the time.
    const auto left = static_cast<double>(
        std::ranges::count_if(contenders_, [](const Contender& each) { return !each.search; }));
    HONE_ASSIGN(DispatchSearch begun,
                DispatchSearch::begin(context_, *now_->provider, dispatch_, now_->space,
                                      seconds_to_search() / left));
    DispatchSearch& search = now_->search.emplace(std::move(begun));
    if (options.traits().compiling_disturbs || now_ != &contenders_.front()) return {};
    HONE_TRY(bench_.compile_default());
    HONE_ASSIGN(const std::vector<space::Configuration> proposals,
                search.propose(std::min(options.compile_ahead, search.planned())));
    return begin_round(proposals);
  }

  // Searches the current contender's space until clock_ reaches `seconds`.
  Status search(double seconds) {
    DispatchSearch& search = *now_->search;
    const bool may_give_up = now_->provider != &context_.provider;
    const double at_most = seconds + std::max(plan::kMostSecondsLonger, seconds - clock_.seconds());
    const auto goes_on = [&] {
      const bool enough =
          share_.enough > 0 && search.tried() >= share_.enough && now_->right >= share_.least_right;
      if (enough) return false;
      if (search.tried() == 0 || clock_.seconds() < seconds) return true;
      return now_->right < share_.least_right && clock_.seconds() < at_most;
    };
    while (search.tried() < search.planned() && goes_on() &&
           !(may_give_up && now_->is_hopeless())) {
      report(Stage::kSearch, seconds - clock_.seconds());
      HONE_TRY(pick_up());
      const std::size_t left = search.planned() - search.tried();
      HONE_ASSIGN(const std::vector<space::Configuration> proposals,
                  search.propose(std::min(round_size(seconds), left)));
      if (search.stopped()) break;
      if (!proposals.empty()) {
        HONE_TRY(begin_round(proposals));
        HONE_TRY(finish_compiling(rounds_ahead()));
      } else if (!compiling_.empty()) {
        HONE_TRY(finish_compiling(0));  // what is told then may be worth refining
      } else if (!put_aside_.empty()) {
        HONE_TRY(wait_for_others(seconds - clock_.seconds()));
      } else {
        break;
      }
    }
    if (may_give_up && now_->is_hopeless()) return give_up();
    HONE_TRY(finish_compiling(0));
    while (!put_aside_.empty() && clock_.seconds() < seconds) {
      HONE_TRY(pick_up());
      if (!put_aside_.empty()) HONE_TRY(wait_for_others(seconds - clock_.seconds()));
    }
    HONE_TRY(context_.store.log_event("search", nlohmann::json{{"dispatch", dispatch_.name},
                                                               {"provider", now_->provider->name()},
                                                               {"search", search.note()}}
                                                    .dump()));
    report(Stage::kSearch, 0);
    if (const std::string why = now_->failures.words(); !why.empty())
      context_.note("{}: {}", dispatch_.name, why);
    return bench_.trials().cancel_compiles();
  }

  // Drops the current contender and cancels its remaining compiles.
  Status give_up() {
    const std::string note =
        fmt::format("{}: none of {}'s {} kernels is right, and no more are tried; the last: {}",
                    dispatch_.name, now_->provider->name(), now_->wrong, now_->last_failure);
    context_.observer.note(note);
    HONE_TRY(context_.store.log_event("search given up", note));
    HONE_TRY(bench_.trials().cancel_compiles());
    compiling_.clear();
    std::erase_if(put_aside_, [this](const Proposal& each) { return each.of == now_; });
    return {};
  }

  // Starts with few, then takes as many as fit into a share of the time at the average time so far.
  std::size_t round_size(double seconds) const {
    if (!traits().compiling_disturbs) return context_.options.compile_ahead;
    if (tried() == 0) return plan::kFewestInRound;
    const double each = clock_.seconds() / static_cast<double>(tried());
    const double time = std::min(seconds * plan::kRoundShare, seconds - clock_.seconds());
    return static_cast<std::size_t>(std::clamp(time / each,
                                               static_cast<double>(plan::kFewestInRound),
                                               static_cast<double>(plan::kMostInRound)));
  }

  // Rounds that compile ahead: 0 where compiling disturbs measuring, 2 if the search does not learn
  // from outcomes, else 1.
  std::size_t rounds_ahead() const {
    return traits().compiling_disturbs ? 0 : now_->search->learns() ? 1 : 2;
  }

  Status begin_round(const std::vector<space::Configuration>& proposals) {
    Round round;
    const provider::Provider& provider = *now_->provider;
    const space::Space& space = now_->space;
    HONE_TRY(context_.store.transaction([&]() -> Status {
      for (const space::Configuration& configuration : proposals) {
        store::CandidateRow row = bench_.candidate_row(space::to_json(space, configuration).dump());
        row.provider = provider.name();
        if (context_.options.configurations.empty()) row.constraint_set = provider.constraint_set();
        Trial trial;
        HONE_ASSIGN(trial.candidate, context_.store.add_candidate(row));
        HONE_ASSIGN(trial.payload, provider.payload_of(dispatch_, space, configuration));
        trial.suspicions = [this, &provider] { return provider.suspicions(dispatch_); };
        round.push_back({now_, configuration, std::move(trial)});
      }
      return {};
    }));
    HONE_TRY(bench_.trials().begin(trials_of(round)));
    compiling_.push_back(std::move(round));
    return {};
  }

  // Limits the wait where possible: some configurations compile 100x as long as others.
  double patience() const {
    return traits().compiling_disturbs ? -1 : plan::kCompilePatienceSeconds;
  }

  // Measures the oldest rounds until at most `most` still compile.
  Status finish_compiling(std::size_t most) {
    while (compiling_.size() > most) {
      Round round = std::move(compiling_.front());
      compiling_.pop_front();
      HONE_TRY(bench_.finish(trials_of(round), patience()));
      settle(std::move(round));
    }
    return {};
  }

  void settle(Round round) {
    for (Proposal& each : round) settle(std::move(each));
  }

  void settle(Proposal proposal) {
    const Trial& trial = proposal.trial;
    Contender& of = *proposal.of;
    if (trial.is_pending()) {
      put_aside_.push_back(std::move(proposal));
      return;
    }
    of.search->tell(proposal.configuration,
                    {trial.ratio, trial.failure ? cause_of(*trial.failure) : ""}, trial.noise);
    if (trial.state != trial::TrialState::kMeasured) {
      ++failed_;
      if (trial.failure)
        of.failures.add(provider::name_of(trial.failure->kind), trial.failure->message);
      if (trial.failure && is_no_right_kernel(trial.failure->kind)) {
        ++of.wrong;
        of.last_failure = trial.failure->message;
      }
      return;
    }
    ++of.right;
    best_ratio_ = std::min(best_ratio_, *trial.ratio);
    tried_.emplace(trial.candidate, std::move(proposal));
  }

  // Looks again at trials that another tuner on the store held. Its results are in the store now,
  // or it is gone and this tuner takes over.
  Status pick_up() {
    // Skip trials that still compile here: there may be hundreds, and each costs a query.
    const auto ready =
        std::partition(put_aside_.begin(), put_aside_.end(), [this](const Proposal& each) {
          return bench_.trials().is_compiling(each.trial.candidate);
        });
    Round aside(std::make_move_iterator(ready), std::make_move_iterator(put_aside_.end()));
    put_aside_.erase(ready, put_aside_.end());
    if (aside.empty()) return {};
    HONE_TRY(bench_.trials().begin(trials_of(aside)));
    HONE_TRY(bench_.finish(trials_of(aside), traits().compiling_disturbs ? -1 : 0));
    settle(std::move(aside));
    return {};
  }

  // Waits for a trial that was put aside: its compile, or another tuner.
  Status wait_for_others(double seconds) {
    if (bench_.trials().is_compiling())
      return bench_.trials().wait_for_compiles(std::max(0.0, seconds)).map([](std::size_t) {});
    return context_.leases->wait();
  }

  const device::Traits& traits() const { return context_.options.traits(); }
  bool default_is_wrong() const { return !bench_.default_is_wrong().empty(); }

  double for_finalists() const {
    return finalist_seconds(share_.seconds, traits().one_batch_tells);
  }

  double for_baselines() const {
    return context_.options.baselines
               ? std::min(plan::kMostBaselineSeconds, share_.seconds * plan::kBaselineShare)
               : 0;
  }

  // Seconds left to search: the dispatch's share, less the time spent and the steps after the
  // search.
  double seconds_to_search() const {
    const double for_shipping = traits().assembles_code ? plan::kShippingSeconds : 0;
    return std::max(
        least_search_seconds(traits()),
        share_.seconds - whole_.seconds() - for_finalists() - for_baselines() - for_shipping);
  }

  std::vector<store::Id> finalists() const {
    std::vector<Measured> measured;
    for (const auto& [candidate, tried] : tried_)
      measured.push_back({*tried.trial.ratio, candidate, tried.trial.timing->median});
    return choose_finalists(std::move(measured), {for_finalists(), bench_.default_seconds(),
                                                  traits().one_batch_tells, default_is_wrong()});
  }

  // Replaces each finalist that ships in another form by that form, if it is correct and no slower.
  Status add_shipped_forms(std::vector<store::Id>& finalists) {
    Round shipping;
    std::vector<store::Id> searched;
    for (const store::Id finalist : finalists) {
      const Proposal& tried = tried_.at(finalist);
      const auto shipped = tried.of->provider->as_shipped(*tried.trial.payload);
      if (!shipped) continue;
      Trial trial;
      trial.payload = shipped->payload;
      HONE_ASSIGN(trial.candidate,
                  context_.store.add_candidate(bench_.candidate_row(shipped->configuration)));
      shipping.push_back({tried.of, tried.configuration, std::move(trial)});
      searched.push_back(finalist);
    }
    if (shipping.empty()) return {};
    HONE_TRY(bench_.run(trials_of(shipping)));
    for (std::size_t i = 0; i < shipping.size(); ++i) {
      const Trial& trial = shipping[i].trial;
      if (trial.state != trial::TrialState::kMeasured ||
          *trial.ratio > *tried_.at(searched[i]).trial.ratio * plan::kSameTimeRatio)
        continue;
      std::replace(finalists.begin(), finalists.end(), searched[i], trial.candidate);
      tried_.emplace(trial.candidate, std::move(shipping[i]));
    }
    return {};
  }

  Status separate(const std::vector<store::Id>& finalists) {
    const auto span = context_.spend(trial::Activity::kFinalists);
    std::vector<Finalist> named;
    for (const store::Id candidate : finalists) {
      const Proposal& tried = tried_.at(candidate);
      named.push_back({candidate, space::to_string(tried.of->space, tried.configuration)});
    }
    HONE_ASSIGN(finalists_, race_finalists(context_, bench_, named, for_finalists(),
                                           [&](double left) { report(Stage::kFinalists, left); }));
    return {};
  }

  Result<TunedDispatch> select() {
    if (!finalists_.winner)
      return keep_default("every finalist was wrong in one of the launches compared");
    const measure::Race& race = finalists_.race;
    const std::vector<store::Id>& columns = finalists_.candidates;
    const auto [winner, won] = *finalists_.winner;
    HONE_ASSIGN(const measure::PairedComparison comparison,
                measure::compare_paired(race.default_times(winner), race.times(winner)));
    if (comparison.verdict != measure::Verdict::kFaster && !default_is_wrong())
      return keep_default("the best candidate is not reliably faster than the default");

    TunedDispatch tuned;
    tuned.dispatch = &dispatch_;
    tuned.id = bench_.dispatch_id();
    tuned.default_is_wrong = default_is_wrong();
    store::SelectionRow& selection = tuned.selection;
    selection.winner = columns[winner];
    for (const std::size_t member : race.tied()) selection.ties.push_back(columns[member]);
    take_speedup(selection, comparison);
    selection.reason = reason_of(won, race.tied().size());
    tuned.payload = tried_.at(columns[winner]).trial.payload;
    if (context_.programs == nullptr) return tuned;
    HONE_ASSIGN(tuned.near_ties, near_ties(winner));
    const auto span = context_.spend(trial::Activity::kBaselines);
    if (traits().assembles_code) return as_shipped(std::move(tuned));
    if (tuned.replaces()) {
      HONE_ASSIGN(provider::Artifact kernel, bench_.artifact(*selection.winner));
      tuned.code = std::move(kernel.code);
      tuned.launch = std::move(kernel.launch);
    }
    // This measurement is only for the report: the choice is made.
    if (context_.options.baselines && for_baselines() >= plan::kSecondsUnderRuntime)
      HONE_TRY(measure_under_runtime(context_, bench_, dispatch_, *selection.winner));
    return tuned;
  }

  // Returns the finalists that took about as long as the winner, without it.
  Result<std::vector<NearTie>> near_ties(std::size_t winner) const {
    std::vector<std::pair<double, std::size_t>> close;  // time / the winner's, column
    for (std::size_t column = 0; column < finalists_.candidates.size(); ++column) {
      if (column == winner) continue;
      // Compare the rounds that both ran: a finalist that left the race early has only the first
      // ones.
      const std::vector<double> times = finalists_.race.times(column);
      std::vector<double> of_winner = finalists_.race.times(winner);
      of_winner.resize(std::min(of_winner.size(), times.size()));
      if (times.size() != of_winner.size() || times.empty()) continue;
      HONE_ASSIGN(const auto comparison, measure::compare_paired(of_winner, times));
      if (comparison.ratio <= plan::kNearTieRatio) close.emplace_back(comparison.ratio, column);
    }
    std::ranges::sort(close);
    if (close.size() > plan::kMostNearTies) close.resize(plan::kMostNearTies);
    std::vector<NearTie> found;
    for (const auto& [ratio, column] : close) {
      const store::Id candidate = finalists_.candidates[column];
      found.push_back({candidate, *tried_.at(candidate).trial.payload});
    }
    return found;
  }

  // Measures the form that ships. The compiler's own runtime could run that code only in its
  // container.
  Result<TunedDispatch> as_shipped(TunedDispatch tuned) {
    HONE_ASSIGN(ShippedKernel shipped, measure_as_shipped(context_, bench_, dispatch_,
                                                          *tuned.selection.winner, *tuned.payload));
    if (!shipped.why_not.empty()) return keep_default("the winner cannot ship: " + shipped.why_not);
    tuned.payload = std::move(shipped.payload);
    tuned.code = std::move(shipped.code);
    tuned.accuracy = std::move(shipped.accuracy);
    if (tuned.replaces()) tuned.launch = std::move(shipped.launch);
    return tuned;
  }

  Result<TunedDispatch> keep_default(std::string reason) {
    TunedDispatch tuned;
    tuned.dispatch = &dispatch_;
    tuned.id = bench_.dispatch_id();
    tuned.default_is_wrong = default_is_wrong();  // also for a run that goes on from here
    tuned.keep_default(std::move(reason));
    return tuned;
  }

  void report(Stage stage, double seconds_left) {
    const bool searching = stage == Stage::kSearch;
    const std::size_t to_try = searching ? now_->search->planned() - now_->search->tried() : 0;
    const auto done = static_cast<double>(tried());
    const DispatchTime left{.searching = searching ? seconds_left : 0,
                            .per_candidate = searching && done > 0 ? clock_.seconds() / done : 0,
                            .candidates = static_cast<double>(to_try),
                            .comparing = searching ? for_finalists() : seconds_left,
                            .after = share_.after};
    context_.observer.progress({.dispatch = dispatch_.name,
                                .dispatch_index = share_.index,
                                .dispatch_count = share_.count,
                                .stage = stage,
                                .step = searching ? "search" : "finalists",
                                .tried = tried(),
                                .planned = tried() + to_try,
                                .failed = failed_,
                                .best_speedup = 1 / best_ratio_,
                                .seconds_left = tune::seconds_left(left)});
  }

  // Number of configurations tried, of all contenders.
  std::size_t tried() const {
    std::size_t all = 0;
    for (const Contender& each : contenders_)
      if (each.search) all += each.search->tried();
    return all;
  }

  Context& context_;
  const problem::Dispatch& dispatch_;
  std::deque<Contender> contenders_;
  Contender* now_ = &contenders_.front();  // whose turn it is; none moves in a deque
  DispatchBench bench_;
  Share share_;
  const Stopwatch& whole_;  // since the dispatch's turn came
  const measure::ProblemRequest* next_;
  Stopwatch clock_;  // of the search
  std::size_t failed_ = 0;
  double best_ratio_ = 1;
  std::map<store::Id, Proposal> tried_;  // what was measured
  Round put_aside_;                      // what another tuner is at, or still compiles
  std::deque<Round> compiling_;          // oldest first
  FinalistRounds finalists_;
};

// Averages the busy time over the devices.
double busy_seconds(const Context& context) {
  double seconds = context.runner.busy_seconds();
  for (const trial::RunnerService* runner : context.more_runners) seconds += runner->busy_seconds();
  return seconds / static_cast<double>(1 + context.more_runners.size());
}

// Returns the contenders, providers that replace the compiler's kernels first: their estimates put
// the best first, which pays off where time is short. Configurations given by hand belong to the
// session's own provider.
Result<std::deque<Contender>> contenders_for(const Context& context,
                                             const problem::Dispatch& dispatch) {
  std::deque<Contender> contenders;
  if (context.options.configurations.empty())
    for (const provider::Provider* const each : context.replacing) {
      if (!each->why_no_space(dispatch).empty()) continue;
      HONE_ASSIGN(space::Space theirs, each->space_of(dispatch));
      contenders.push_back({each, std::move(theirs)});
    }
  // Even without a space, the session's own provider supplies the default to compare with.
  if (contenders.empty() || context.provider.why_no_space(dispatch).empty()) {
    HONE_ASSIGN(const space::Space stated, context.provider.space_of(dispatch));
    HONE_ASSIGN(space::Space space, stated.relax(context.options.relax));
    contenders.push_back({&context.provider, std::move(space)});
  }
  return contenders;
}

}  // namespace

void take_speedup(store::SelectionRow& selection, const measure::PairedComparison& comparison) {
  selection.speedup = 1 / comparison.ratio;
  selection.speedup_low = 1 / comparison.interval.high;
  selection.speedup_high = 1 / comparison.interval.low;
}

Result<TunedDispatch> tune_dispatch(Context& context, const problem::Dispatch& dispatch,
                                    const problem::Dispatch* reference, const Share& share,
                                    const measure::ProblemRequest* next) {
  const Stopwatch clock(context.clock);
  const double busy = busy_seconds(context);
  HONE_ASSIGN(std::deque<Contender> contenders, contenders_for(context, dispatch));
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare(context, dispatch, reference));
  const std::string key = bench.key();
  DispatchTuner tuner(context, dispatch, std::move(contenders), std::move(bench), share, clock,
                      next);
  Result<TunedDispatch> tuned = tuner.tune();
  if (!tuned) {
    HONE_TRY(context.compiler.cancel_all());
    return tuned;
  }
  tuned->search = tuner.search_note();
  tuned->seconds = clock.seconds();
  tuned->busy_seconds = busy_seconds(context) - busy;
  if (context.options.baselines) HONE_TRY(tuner.compare_with_libraries(tuned->selection.winner));
  HONE_TRY(context.compiler.release(key));
  return tuned;
}

}  // namespace hone::tune
