#include "tune/dispatch/dispatch_list.h"

#include <algorithm>
#include <numeric>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "plan/work_plan.h"
#include "trial/records.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/dispatch_weight.h"
#include "tune/dispatch/finished_work.h"
#include "tune/dispatch/own_shard.h"
#include "tune/services/session_steps.h"

namespace hone::tune {
namespace {

class ListTuner {
 public:
  ListTuner(Context& context, const DispatchList& list,
            const std::function<Status(const TunedList&)>& after_each)
      : context_(context), list_(list), after_each_(after_each), plan_(/*everything=*/true) {}

  Result<TunedList> run(store::Run row) {
    HONE_ASSIGN(result_.list,
                context_.store.intern(store::ProgramRow{0, list_.hash, list_.path, "{}"}));
    HONE_ASSIGN(EarlierWork earlier, earlier_work(context_, row, result_.list));
    finished_ = std::move(earlier.finished);
    row.program = result_.list;
    HONE_ASSIGN(result_.run, context_.store.begin_run(row));
    Status status;
    if (!context_.options.measured_by)
      status = look_at_machine(context_).map(
          [this](MachineCheck&& machine) { result_.machine = std::move(machine); });
    if (status) status = tune_all();
    if (status && tuned_here_) status = record_peak(context_);
    if (status && list_.measured) status = keep_measured(context_.store, *list_.measured);
    HONE_TRY(end_run(context_, status));
    return std::move(result_);
  }

 private:
  Status tune_all() {
    const Stopwatch watch(context_.clock);
    HONE_TRY(make_plan());
    if (context_.options.measured_by) return take_measured();
    const double budget = context_.options.budget_seconds * share_;
    context_.observer.note(plan_.describe("GEMMs", budget));
    if (!context_.options.part.searches()) leave_out_rest();
    while (const auto place = plan_.next()) {
      const double left = budget - watch.seconds();
      const double share = plan_.seconds_for(*place, left);
      HONE_TRY(tune_one(*place, {plan_.count(plan::State::kFinished), list_.dispatches.size(),
                                 share, left - share}));
      plan_.finish(*place);
      HONE_TRY(after_each_(result_));
    }
    return check_any();
  }

  Status take_measured() {
    for (std::size_t i = 0; i < list_.dispatches.size(); ++i)
      if (plan_.items()[i].state != plan::State::kFinished)
        result_.not_tuned.push_back({list_.dispatches[i].name, "it was not measured"});
    HONE_TRY(after_each_(result_));
    return check_any();
  }

  Status check_any() {
    in_list_order();
    if (result_.tuned.empty() && !result_.not_tuned.empty())
      return failure("nothing of '{}' can be tuned: {}", list_.path,
                     result_.not_tuned.front().reason);
    return {};
  }

  // Dispatches of a list weigh the same, those of a program what is expected of them.
  Status make_plan() {
    const auto weights = mapped(list_.dispatches, [&](const problem::Dispatch& dispatch) {
      return list_.is_program() ? estimated_weight(context_, dispatch)
                                : plan::Weight{1, 1, seconds_needed(context_, {})};
    });
    std::vector<std::size_t> own(list_.dispatches.size());
    std::iota(own.begin(), own.end(), std::size_t{0});
    if (context_.options.part.is_shard()) {
      const auto all = mapped(list_.dispatches, [](const auto& each) { return &each; });
      HONE_ASSIGN(OwnShard shard, own_shard(context_, all, weights));
      own = std::move(shard.places);
      share_ = shard.share;
    }
    for (std::size_t i = 0; i < list_.dispatches.size(); ++i) {
      const problem::Dispatch& dispatch = list_.dispatches[i];
      plan_.add({dispatch.name, weights[i]});
      if (!std::ranges::binary_search(own, i)) {
        plan_.finish(i);
        continue;
      }
      HONE_ASSIGN(const bool is_finished, take_finished(dispatch, i));
      if (!is_finished) continue;
      plan_.finish(i);
      HONE_TRY(after_each_(result_));
    }
    plan_.deal(context_.options.budget_seconds * share_);
    return {};
  }

  void leave_out_rest() {
    for (const std::size_t place : plan_.waiting()) {
      result_.not_tuned.push_back(
          {list_.dispatches[place].name, "no shard in the store has tuned it"});
      plan_.finish(place);
    }
  }

  void in_list_order() {
    std::ranges::sort(result_.tuned, {}, [this](const TunedDispatch& each) {
      return each.dispatch - list_.dispatches.data();
    });
  }

  Result<bool> take_finished(const problem::Dispatch& dispatch, std::size_t place) {
    HONE_ASSIGN(const store::Id id, trial::intern_dispatch(context_.store, dispatch));
    HONE_TRY(context_.store.link_dispatch(
        {result_.list, id, static_cast<std::int64_t>(place), dispatch.launches_per_call}));
    const auto* const found = value_at(finished_, id);
    if (found == nullptr) return false;
    result_.tuned.push_back(*found);
    result_.tuned.back().dispatch = &dispatch;
    HONE_TRY(tell_done(context_, dispatch, &result_.tuned.back(), ""));
    return true;
  }

  Status tune_one(std::size_t place, const Share& share) {
    const problem::Dispatch* const reference =
        list_.is_program() && list_.references[place] ? &*list_.references[place] : nullptr;
    HONE_ASSIGN(
        std::optional<TunedDispatch> tuned,
        tune_and_keep(context_, list_.dispatches[place], {share, reference}, result_.not_tuned));
    tuned_here_ = tuned_here_ || tuned;
    if (tuned) result_.tuned.push_back(std::move(*tuned));
    return {};
  }

  Context& context_;
  const DispatchList& list_;
  const std::function<Status(const TunedList&)>& after_each_;
  plan::WorkPlan plan_;
  std::map<store::Id, TunedDispatch> finished_;
  bool tuned_here_ = false;
  double share_ = 1;  // of the budget, that the dispatches of a shard have
  TunedList result_;
};

Status read_result(Context& context, const Trial& trial, CheckedCandidate& checked) {
  if (trial.failure) {
    checked.is_wrong = trial.failure->kind == provider::FailureKind::kWrong;
    checked.failure =
        fmt::format("{}: {}", provider::name_of(trial.failure->kind), trial.failure->message);
    return {};
  }
  if (trial.state != trial::TrialState::kMeasured) {
    checked.failure = "another tuner on the store is at it";
    return {};
  }
  checked.speedup = 1 / *trial.ratio;
  HONE_ASSIGN(store::KnownResults known,
              context.store.known(trial.candidate, context.device, store::Phase::kSearch,
                                  context.options.reuse));
  checked.verification = std::move(known.verification);
  if (known.measurement) checked.seconds = known.measurement->timing.median;
  return {};
}

Result<CheckedCandidate> check_on(Context& context, DispatchBench& bench,
                                  const GivenCandidate& given) {
  CheckedCandidate checked;
  checked.given = &given;
  Trial trial;
  trial.payload = given.payload;
  HONE_ASSIGN(trial.candidate,
              context.store.add_candidate(bench.candidate_row(given.configuration)));
  checked.candidate = trial.candidate;
  HONE_TRY(bench.set_up());
  HONE_TRY(bench.run({&trial}));
  HONE_TRY(read_result(context, trial, checked));
  HONE_TRY(context.compiler.release(bench.key()));
  return checked;
}

Result<CheckedCandidate> check_one(Context& context, const GivenCandidate& given) {
  Result<CheckedCandidate> checked =
      DispatchBench::prepare(context, given.dispatch, nullptr).and_then([&](DispatchBench&& bench) {
        return check_on(context, bench, given);
      });
  if (checked || checked.error().kind != ErrorKind::kFailure) return checked;
  HONE_TRY(context.compiler.cancel(problem::fingerprint(given.dispatch)));
  CheckedCandidate failed;
  failed.given = &given;
  failed.failure = checked.error().message;
  return failed;
}

Result<std::vector<CheckedCandidate>> check_all(Context& context, const GivenList& list) {
  HONE_TRY(look_at_machine(context));
  std::vector<CheckedCandidate> checked;
  for (std::size_t i = 0; i < list.candidates.size(); ++i) {
    const GivenCandidate& given = list.candidates[i];
    context.observer.progress({.dispatch = given.dispatch.name,
                               .dispatch_index = i,
                               .dispatch_count = list.candidates.size(),
                               .step = "check",
                               .planned = 1});
    HONE_ASSIGN(CheckedCandidate each, check_one(context, given));
    checked.push_back(std::move(each));
  }
  return checked;
}

}  // namespace

Result<TunedList> tune_list(Context& context, store::Run run, const DispatchList& list,
                            const std::function<Status(const TunedList&)>& after_each) {
  return ListTuner(context, list, after_each).run(std::move(run));
}

Result<std::vector<CheckedCandidate>> check_candidates(Context& context, store::Run run,
                                                       const GivenList& list) {
  HONE_ASSIGN(const store::Id program,
              context.store.intern(store::ProgramRow{0, list.hash, list.path, "{}"}));
  run.program = program;
  HONE_TRY(context.store.begin_run(run));
  Result<std::vector<CheckedCandidate>> checked = check_all(context, list);
  const Status status = checked.map([](const auto&) {});
  HONE_TRY(end_run(context, status));
  return checked;
}

}  // namespace hone::tune
