#include "tune/dispatch/dispatch_tuner.h"

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "plan/policy.h"
#include "space/configuration.h"
#include "tune/dispatch/baselines.h"
#include "tune/dispatch/finalists.h"
#include "tune/dispatch/shipped_kernels.h"

namespace hone::tune {
namespace {

// Averages the busy time over the devices.
double busy_seconds(const Context& context) {
  double seconds = context.runner.busy_seconds();
  for (const trial::RunnerService* runner : context.more_runners) seconds += runner->busy_seconds();
  return seconds / static_cast<double>(1 + context.more_runners.size());
}

std::string reason_of(measure::Won won, std::size_t tied) {
  if (won == measure::Won::kSeparated) return "faster than every other finalist";
  if (won == measure::Won::kByName)
    return fmt::format("first by name of {} that are within 1 % of the best", tied);
  return fmt::format("the fastest by estimate of {} that are not told apart", tied);
}

}  // namespace

class DispatchTuner {
 public:
  // `contenders`: at least one, in the order of their turns.
  DispatchTuner(Context& context, const problem::Dispatch& dispatch,
                std::deque<Contender> contenders, DispatchBench bench, const Share& share)
      : context_(context),
        dispatch_(dispatch),
        bench_(std::move(bench)),
        search_(context, dispatch, std::move(contenders), bench_, share) {}

  Status begin() { return search_.begin(); }

  // `whole`: since the dispatch's turn came.
  Result<TunedDispatch> tune(const Turn& turn, const Stopwatch& whole) {
    search_.take_turn(turn.share, whole);
    HONE_TRY(bench_.set_up());
    for (const measure::ProblemRequest* const next : turn.next)
      HONE_TRY(expect_problem(context_, *next));
    HONE_TRY(search_.run());
    if (const std::string note = bench_.differing_devices(); !note.empty()) {
      context_.observer.warn(note);
      HONE_TRY(context_.store.log_event("devices differ", note));
    }
    std::vector<store::Id> finalists = this->finalists();
    HONE_TRY(add_shipped_forms(finalists));
    HONE_TRY(compile_likely(finalists));
    if (turn.after_search) HONE_TRY(turn.after_search());
    if (finalists.empty())
      return keep_default(default_is_wrong() ? "no candidate is right, and neither is the default"
                                             : "no candidate is right and faster than the default");
    HONE_TRY(separate(finalists));
    return select();
  }

  const SearchNote& search_note() const { return search_.note(); }

  // Ends what compiles, and its servers.
  Status end() {
    HONE_TRY(bench_.trials().cancel_compiles());
    HONE_TRY(context_.compiler.release(shipped_key(bench_)));
    return context_.compiler.release(bench_.key());
  }

  Status compare_with_libraries(std::optional<store::Id> winner) {
    const auto span = context_.spend(trial::Activity::kBaselines);
    std::string why_not = "its share of the budget is too short for libraries";
    if (search_.has_time_for_libraries()) {
      HONE_ASSIGN(why_not, measure_baselines(context_, bench_, winner));
    }
    if (!why_not.empty())
      HONE_TRY(
          context_.store.log_event("no baseline", fmt::format("{}: {}", dispatch_.name, why_not)));
    return {};
  }

 private:
  using Proposal = DispatchSearch::Proposal;

  const device::Traits& traits() const { return context_.options.traits(); }
  bool default_is_wrong() const { return !bench_.default_is_wrong().empty(); }

  std::vector<store::Id> finalists() {
    std::vector<Measured> measured;
    for (const auto& [candidate, tried] : search_.tried())
      measured.push_back({*tried.trial.ratio, candidate, tried.trial.timing->median});
    return choose_finalists(std::move(measured), {search_.for_finalists(), bench_.default_seconds(),
                                                  traits().one_batch_tells, default_is_wrong()});
  }

  // Replaces each finalist that ships in another form by that form, if it is correct and no slower.
  Status add_shipped_forms(std::vector<store::Id>& finalists) {
    DispatchSearch::Round shipping;
    std::map<store::Id, Proposal>& tried = search_.tried();
    std::vector<store::Id> searched;
    for (const store::Id finalist : finalists) {
      const Proposal& found = tried.at(finalist);
      const auto shipped = found.of->provider().as_shipped(*found.trial.payload);
      if (!shipped) continue;
      Trial trial;
      trial.payload = shipped->payload;
      HONE_ASSIGN(trial.candidate,
                  context_.store.add_candidate(bench_.candidate_row(shipped->configuration)));
      if (context_.options.measures_only) {
        HONE_ASSIGN(const store::KnownResults known,
                    context_.store.known(trial.candidate, std::nullopt));
        if (!known.artifact || !known.artifact->has_code) continue;
      }
      shipping.push_back({found.of, found.configuration, std::move(trial)});
      searched.push_back(finalist);
    }
    if (shipping.empty()) return {};
    HONE_TRY(bench_.run(DispatchSearch::trials_of(shipping)));
    for (std::size_t i = 0; i < shipping.size(); ++i) {
      const Trial& trial = shipping[i].trial;
      if (trial.state != trial::TrialState::kMeasured ||
          *trial.ratio > *tried.at(searched[i]).trial.ratio * plan::kSameTimeRatio)
        continue;
      std::replace(finalists.begin(), finalists.end(), searched[i], trial.candidate);
      tried.emplace(trial.candidate, std::move(shipping[i]));
    }
    return {};
  }

  // Work that was compiled ahead is in the form that ships, unless it replaces the compiler's.
  static bool ships_as_measured(const Proposal& tried) {
    return tried.of->is_compiled() && tried.trial.payload->replacing.empty();
  }

  // Compiles what ships if one of the first finalists wins, while they race.
  Status compile_likely(const std::vector<store::Id>& finalists) {
    if (!traits().assembles_code || context_.programs == nullptr) return {};
    std::vector<provider::Payload> likely;
    for (const store::Id candidate : finalists) {
      const Proposal& tried = search_.tried().at(candidate);
      if (likely.size() < plan::kShippedAhead && !ships_as_measured(tried))
        likely.push_back(*tried.trial.payload);
    }
    return likely.empty() ? Status() : compile_shipped_ahead(context_, bench_, dispatch_, likely);
  }

  Status separate(const std::vector<store::Id>& finalists) {
    const auto span = context_.spend(trial::Activity::kFinalists);
    std::vector<Finalist> named;
    for (const store::Id candidate : finalists) {
      const Proposal& tried = search_.tried().at(candidate);
      named.push_back({candidate, space::to_string(tried.of->space(), tried.configuration)});
    }
    HONE_ASSIGN(finalists_,
                race_finalists(context_, bench_, named, search_.for_finalists(),
                               [&](double left) { search_.report(Stage::kFinalists, left); }));
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
    tuned.payload = search_.tried().at(columns[winner]).trial.payload;
    if (context_.programs == nullptr) return tuned;
    HONE_ASSIGN(tuned.near_ties, near_ties(winner));
    const auto span = context_.spend(trial::Activity::kBaselines);
    const Proposal& tried = search_.tried().at(columns[winner]);
    if (traits().assembles_code)
      return ships_as_measured(tried) ? as_measured(std::move(tuned))
                                      : as_shipped(std::move(tuned));
    if (tuned.replaces()) {
      HONE_ASSIGN(provider::Artifact kernel, bench_.artifact(*selection.winner));
      tuned.code = std::move(kernel.code);
      tuned.launch = std::move(kernel.launch);
    } else if (!traits().runs_on_host && !tried.of->is_compiled()) {
      HONE_ASSIGN(tuned.payload, payload_in_spec(context_, bench_, dispatch_, *tuned.payload));
    }
    // This measurement is only for the report: the choice is made.
    if (traits().runs_on_host && context_.options.baselines && !tried.of->is_compiled() &&
        search_.for_baselines() >= plan::kSecondsUnderRuntime)
      HONE_TRY(measure_under_runtime(context_, bench_, dispatch_, *selection.winner));
    return tuned;
  }

  // Returns the finalists that took about as long as the winner, without it.
  Result<std::vector<NearTie>> near_ties(std::size_t winner) {
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
      found.push_back({candidate, *search_.tried().at(candidate).trial.payload});
    }
    return found;
  }

  // Verifies the form that ships. The compiler's own runtime could run that code only in its
  // container. Where many dispatches share the time, the proof alone times it.
  Result<TunedDispatch> as_shipped(TunedDispatch tuned) {
    HONE_ASSIGN(ShippedKernel shipped,
                verify_as_shipped(context_, bench_, dispatch_, *tuned.selection.winner,
                                  *tuned.payload, search_.has_time_for_libraries()));
    if (!shipped.why_not.empty()) return keep_default("the winner cannot ship: " + shipped.why_not);
    tuned.payload = std::move(shipped.payload);
    tuned.code = std::move(shipped.code);
    tuned.accuracy = std::move(shipped.accuracy);
    if (tuned.replaces()) tuned.launch = std::move(shipped.launch);
    return tuned;
  }

  Result<TunedDispatch> as_measured(TunedDispatch tuned) {
    HONE_ASSIGN(provider::Artifact kernel, bench_.artifact(*tuned.selection.winner));
    HONE_ASSIGN(tuned.payload, context_.programs->specs().as_compiled(*tuned.payload, kernel));
    tuned.code = std::move(kernel.code);
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

  Context& context_;
  const problem::Dispatch& dispatch_;
  DispatchBench bench_;
  DispatchSearch search_;
  FinalistRounds finalists_;
};

void take_speedup(store::SelectionRow& selection, const measure::PairedComparison& comparison) {
  selection.speedup = 1 / comparison.ratio;
  selection.speedup_low = 1 / comparison.interval.high;
  selection.speedup_high = 1 / comparison.interval.low;
}

Result<BegunDispatch> begin_dispatch(Context& context, const problem::Dispatch& dispatch,
                                     const problem::Dispatch* reference,
                                     std::deque<Contender> contenders, const Share& share) {
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare(context, dispatch, reference));
  auto begun = std::make_shared<DispatchTuner>(context, dispatch, std::move(contenders),
                                               std::move(bench), share);
  if (Status status = begun->begin(); !status) {
    HONE_TRY(begun->end());
    return tl::unexpected(std::move(status).error());
  }
  return begun;
}

Status abandon(const BegunDispatch& begun) {
  return begun->end();
}

Result<TunedDispatch> tune_dispatch(Context& context, const problem::Dispatch& dispatch,
                                    const Turn& turn) {
  const Stopwatch clock(context.clock);
  const double busy = busy_seconds(context);
  BegunDispatch tuner = turn.begun;
  if (!tuner) {
    HONE_ASSIGN(std::deque<Contender> contenders, contenders_for(context, dispatch));
    HONE_ASSIGN(tuner, begin_dispatch(context, dispatch, turn.reference, std::move(contenders),
                                      turn.share));
  }
  Result<TunedDispatch> tuned = tuner->tune(turn, clock);
  if (tuned) {
    tuned->search = tuner->search_note();
    tuned->seconds = clock.seconds();
    tuned->busy_seconds = busy_seconds(context) - busy;
    if (context.options.baselines) HONE_TRY(tuner->compare_with_libraries(tuned->selection.winner));
  }
  const Status ended = tuner->end();
  if (tuned || tuned.error().kind == ErrorKind::kFailure) HONE_TRY(ended);
  return tuned;
}

}  // namespace hone::tune
