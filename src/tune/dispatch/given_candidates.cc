#include "tune/dispatch/given_candidates.h"

#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/session_steps.h"

namespace hone::tune {
namespace {

Status read_result(Context& context, const Trial& trial, CheckedCandidate& checked) {
  if (trial.failure) {
    checked.is_wrong = trial.failure->kind == provider::FailureKind::kWrong;
    checked.failure =
        fmt::format("{}: {}", provider::name_of(trial.failure->kind), trial.failure->message);
    return {};
  }
  if (trial.state != trial::State::kMeasured) {
    checked.failure = "another tuner on the store is at it";
    return {};
  }
  checked.speedup = 1 / *trial.ratio;
  HONE_ASSIGN(const store::Known known,
              context.store.known(trial.candidate, context.device, store::Phase::kSearch,
                                  context.options.reuse));
  if (known.verification) checked.tolerance = known.verification->tolerance;
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
  HONE_TRY(context.compiler.cancel_all());
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

Result<std::vector<CheckedCandidate>> check_candidates(Context& context, store::Run run,
                                                       const GivenList& list) {
  HONE_ASSIGN(const store::Id program,
              context.store.intern(store::Program{0, list.hash, list.path, "{}"}));
  run.program = program;
  HONE_TRY(context.store.begin_run(run));
  Result<std::vector<CheckedCandidate>> checked = check_all(context, list);
  const Status status = checked.map([](const auto&) {});
  HONE_TRY(end_run(context, status));
  return checked;
}

}  // namespace hone::tune
