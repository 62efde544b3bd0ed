#include "trial/kernel_runner.h"

#include <numeric>
#include <utility>

#include "provider/retry.h"

namespace hone::trial {
namespace {

using provider::Attempt;
using provider::retried;

// Computing a large reference on one core takes seconds.
constexpr double kProblemSeconds = 600;
constexpr double kPeakSeconds = 60;

measure::ProblemRequest without_source(measure::ProblemRequest request) {
  request.dispatch.source.clear();
  return request;
}

// The runner reports what it cannot load as it reports any failed job.
provider::Failure as_load_error(provider::Failure failed) {
  using provider::FailureKind;
  if (failed.kind == FailureKind::kCompileError) failed.kind = FailureKind::kLoadError;
  return failed;
}

}  // namespace

provider::Failure cannot_be_read(const Error& error) {
  return {provider::FailureKind::kKernelCrash, "the runner's answer " + error.message};
}

Status answers(const std::vector<int>& handles, const measure::Accuracies& kernels) {
  if (kernels.size() == handles.size()) return {};
  return failure("has {} kernels of {}", kernels.size(), handles.size());
}

// Handles of the kernels in their order, the sentinel's last.
Status answers(const measure::MeasureRequest& request, const measure::MeasureResult& result) {
  std::vector<int> asked = request.handles;
  if (request.sentinel && std::ranges::find(asked, *request.sentinel) == asked.end())
    asked.push_back(*request.sentinel);
  if (std::ranges::equal(asked, result.handles, {}, {}, &measure::HandleSamples::handle)) return {};
  return failure("is not of the handles it was asked for");
}

Result<worker::Outcome> RunnerService::send_problem() {
  const worker::Message message = measure::jobs::kSetProblem.ask(*problem_);
  const auto send = [&]() -> Result<worker::Outcome> {
    HONE_TRY(runner_->ensure_ready());
    return runner_->call(message, kProblemSeconds);
  };
  HONE_ASSIGN(worker::Outcome outcome, retried(Attempt::kProblem, send(), send));
  problem_generation_ = runner_->generation();
  return outcome;
}

Status RunnerService::give_problem() {
  HONE_TRY(runner_->start());
  if (!problem_ || problem_generation_ == runner_->generation()) return {};
  HONE_ASSIGN(const worker::Outcome problem, send_problem());
  if (!problem) return failure("the runner lost its problem: {}", problem.error().message);
  return {};
}

Result<worker::Outcome> RunnerService::call(const worker::Message& message, double seconds) {
  HONE_TRY(give_problem());
  return runner_->call(message, seconds);
}

template <class Request, class Answer>
Result<Answer> RunnerService::ask_device(const provider::Job<Request, Answer>& job,
                                         const Request& request) {
  const auto ask_once = [&] { return ask_within(kPeakSeconds, job, request); };
  HONE_ASSIGN(KernelResult<Answer> answer, retried(Attempt::kDevice, ask_once(), ask_once));
  if (!answer) return failure("{}", answer.error().message);
  return std::move(*answer);
}

Result<measure::ProblemReady> RunnerService::set_problem(const measure::ProblemRequest& request) {
  problem_ = without_source(request);
  HONE_ASSIGN(const worker::Outcome outcome, send_problem());
  if (!outcome) return failure("{}", outcome.error().message);
  return measure::jobs::kSetProblem.answered_in(*outcome).map_error([](const Error& error) {
    return Error{ErrorKind::kFailure, cannot_be_read(error).message};
  });
}

// A runner numbers what it loads. If it gives another number than the one that was guessed, the
// verification was of nothing that is loaded, or of another kernel, and is asked for again.
Result<std::vector<RunnerService::Verified>> RunnerService::load_and_verify(
    const std::vector<provider::Artifact>& codes) {
  using measure::jobs::kLoad;
  using measure::jobs::kVerify;
  const Stopwatch watch;
  int guessed = last_handle_;
  std::vector<worker::Message> messages;
  for (const provider::Artifact& code : codes) {
    messages.push_back(kLoad.ask(code));
    messages.push_back(kVerify.ask(++guessed));
  }
  guessed = last_handle_;
  HONE_TRY(give_problem());
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, runner_->call_all(messages, kernel_seconds_));
  std::vector<Verified> all;
  for (std::size_t i = 0; i < outcomes.size(); i += 2) {
    const KernelResult<int> loaded =
        answer_in(kLoad, codes[i / 2], std::move(outcomes[i]), watch.seconds());
    if (!loaded) {
      all.push_back({std::nullopt, tl::unexpected(as_load_error(loaded.error()))});
      break;
    }
    last_handle_ = *loaded;
    if (*loaded == ++guessed && i + 1 < outcomes.size()) {
      all.push_back(
          {*loaded, answer_in(kVerify, guessed, std::move(outcomes[i + 1]), watch.seconds())});
      continue;
    }
    HONE_ASSIGN(KernelResult<measure::Verification> verification, ask(kVerify, *loaded));
    all.push_back({*loaded, std::move(verification)});
  }
  return all;
}

// The runner may first have to finish an earlier expected problem, hence kProblemSeconds.
Status RunnerService::expect_problem(const measure::ProblemRequest& request) {
  HONE_TRY(ask_within(kProblemSeconds, measure::jobs::kExpectProblem, without_source(request)));
  return {};
}

Result<measure::Calibration> RunnerService::calibrate(const device::Address& device) {
  measure::CalibrationRequest request;
  request.device = device;
  return ask_device(measure::jobs::kCalibrate, request);
}

Result<device::Peak> RunnerService::peak() {
  return ask_device(measure::jobs::kPeak, {});
}

template <class Call>
std::invoke_result_t<Call> KernelRunner::ask(Activity activity, std::size_t kernels,
                                             const Call& call) {
  std::optional<TimeBudget::Span> span;
  if (around_.time != nullptr)
    span.emplace(*around_.time, activity,
                 kernels > 1 ? fmt::format("{} kernels", kernels) : std::string());
  if (around_.lock != nullptr) around_.lock->unlock();
  std::invoke_result_t<Call> answer = call();
  if (around_.lock != nullptr) around_.lock->lock();
  return answer;
}

// An accident ends the runner and loses all that was loaded there. It is loaded again before the
// second try.
template <class Call>
std::invoke_result_t<Call> KernelRunner::with(const std::vector<RunnerKernel*>& kernels,
                                              Activity activity, const Call& call) {
  using Answer = std::invoke_result_t<Call>;
  const auto load_and_ask = [&]() -> Answer {
    HONE_ASSIGN(const std::optional<provider::Failure> failed, load(kernels));
    if (failed) return typename Answer::value_type(tl::unexpected(*failed));
    return ask(activity, kernels.size(), call);
  };
  return retried(Attempt::kKernel, load_and_ask(), load_and_ask);
}

bool KernelRunner::is_loaded(const RunnerKernel& kernel) const {
  return kernel.handle && kernel.generation == runner_->generation();
}

// Loading a kernel may start another runner if the old one has died unnoticed. The kernels before
// it are then loaded again.
Result<std::optional<provider::Failure>> KernelRunner::load(
    const std::vector<RunnerKernel*>& kernels) {
  using provider::Failure;
  using provider::FailureKind;
  HONE_TRY(runner_->start());
  constexpr int kPasses = 2;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<RunnerKernel*> missing;
    std::vector<provider::Artifact> codes;
    for (RunnerKernel* kernel : kernels) {
      if (is_loaded(*kernel) || std::ranges::count(missing, kernel) > 0) continue;
      if (!kernel->code)
        return Failure{FailureKind::kLoadError,
                       "it was lost with the runner that its library was in"};
      missing.push_back(kernel);
      codes.push_back(*kernel->code);
    }
    if (missing.empty()) break;
    HONE_ASSIGN(const auto handles, ask(Activity::kLoad, missing.size(),
                                        [&]() -> Result<std::vector<KernelResult<int>>> {
                                          HONE_TRY(runner_->ensure_ready());
                                          return runner_->ask_all(measure::jobs::kLoad, codes);
                                        }));
    for (std::size_t i = 0; i < handles.size(); ++i) {
      if (!handles[i]) return as_load_error(handles[i].error());
      missing[i]->handle = *handles[i];
      missing[i]->generation = runner_->generation();
    }
  }
  return std::nullopt;
}

Status KernelRunner::verify_ahead(const std::vector<RunnerKernel*>& kernels) {
  if (!runner_->is_far() || kernels.empty()) return {};
  std::vector<provider::Artifact> codes;
  for (const RunnerKernel* kernel : kernels) codes.push_back(*kernel->code);
  HONE_ASSIGN(auto all, ask(Activity::kVerify, kernels.size(),
                            [&]() -> Result<std::vector<RunnerService::Verified>> {
                              HONE_TRY(runner_->ensure_ready());
                              return runner_->load_and_verify(codes);
                            }));
  for (std::size_t i = 0; i < all.size(); ++i) {
    // A kernel that gave no verdict went with its runner, which no other call may have noticed yet.
    kernels[i]->handle = all[i].verification ? all[i].handle : std::nullopt;
    kernels[i]->generation = runner_->generation();
    kernels[i]->verified = std::move(all[i].verification);
  }
  return {};
}

Result<KernelResult<measure::Verification>> KernelRunner::verify_far(RunnerKernel& kernel) {
  if (!kernel.verified && is_loaded(kernel))
    return ask(Activity::kVerify, 1,
               [&] { return runner_->ask(measure::jobs::kVerify, *kernel.handle); });
  if (!kernel.verified) HONE_TRY(verify_ahead({&kernel}));
  KernelResult<measure::Verification> verified = *std::move(kernel.verified);
  kernel.verified.reset();
  return verified;
}

Result<KernelResult<measure::Verification>> KernelRunner::verify(RunnerKernel& kernel) {
  if (runner_->is_far() && kernel.code) {
    const auto verify = [&] { return verify_far(kernel); };
    return retried(Attempt::kKernel, verify(), verify);
  }
  return with({&kernel}, Activity::kVerify,
              [&] { return runner_->ask(measure::jobs::kVerify, *kernel.handle); });
}

Result<KernelResult<measure::Repeated>> KernelRunner::compare(RunnerKernel& kernel, int launches,
                                                              double max_seconds) {
  return with({&kernel}, Activity::kVerify, [&] {
    return runner_->ask(
        measure::jobs::kRepeat,
        {.handle = *kernel.handle, .launches = launches, .max_seconds = max_seconds}, max_seconds);
  });
}

Result<KernelResult<measure::Accuracies>> KernelRunner::accuracies(
    const std::vector<RunnerKernel*>& kernels) {
  return with(kernels, Activity::kVerify, [&] {
    std::vector<int> handles;
    for (const RunnerKernel* kernel : kernels) handles.push_back(*kernel->handle);
    return runner_->ask(measure::jobs::kAccuracies, handles);
  });
}

Result<std::string> KernelRunner::find_mistake(RunnerKernel& kernel,
                                               const std::vector<provider::Suspicion>& suspicions) {
  HONE_ASSIGN(const KernelResult<int> found, with({&kernel}, Activity::kVerify, [&] {
                return runner_->ask(measure::jobs::kFindMistake, {*kernel.handle, suspicions});
              }));
  const bool is_one = found && *found >= 0 && static_cast<std::size_t>(*found) < suspicions.size();
  return is_one ? suspicions[static_cast<std::size_t>(*found)].says : "";
}

Result<KernelResult<measure::MeasureResult>> KernelRunner::measure(
    const std::vector<RunnerKernel*>& kernels, RunnerKernel* sentinel,
    measure::MeasureRequest how) {
  std::vector<RunnerKernel*> all = kernels;
  if (sentinel != nullptr) all.push_back(sentinel);
  const double seconds = static_cast<double>(kernels.size() + 1) *
                         (how.protocol.max_seconds + how.protocol.max_warm_up_seconds);
  return with(all, Activity::kMeasure, [&] {
    how.handles.clear();
    for (const RunnerKernel* kernel : kernels) how.handles.push_back(*kernel->handle);
    how.sentinel = sentinel != nullptr ? sentinel->handle : std::nullopt;
    return runner_->ask(measure::jobs::kMeasure, how, seconds);
  });
}

Status KernelRunner::unload(RunnerKernel& kernel) {
  if (is_loaded(kernel)) HONE_TRY(runner_->post(measure::jobs::kUnload, *kernel.handle));
  kernel.handle.reset();
  return {};
}

namespace {

Columns all_of(std::size_t columns) {
  Columns all(columns);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// A kernel without code may be gone with the runner that died, since only its library can load it:
// it is not tried.
Result<FailedColumn> who_fails(KernelRunner& runner, const RoundsRequest& request,
                               const Columns& columns, const provider::Failure& together) {
  if (columns.size() == 1) return FailedColumn{columns.front(), together};
  for (const std::size_t column : columns) {
    RunnerKernel* const kernel = request.kernels[column];
    if (!kernel->code) continue;
    HONE_ASSIGN(const KernelResult<measure::MeasureResult> alone,
                runner.measure({kernel}, nullptr, request.how));
    if (!alone) return FailedColumn{column, alone.error()};
  }
  return FailedColumn{std::nullopt, together};
}

}  // namespace

std::function<Result<Columns>()> fixed_rounds(int rounds, std::size_t columns) {
  return [rounds, columns, taken = 0]() mutable -> Result<Columns> {
    return taken++ < rounds ? all_of(columns) : Columns();
  };
}

Result<std::optional<FailedColumn>> run_rounds(KernelRunner& runner, RoundsRequest request) {
  for (;; ++request.how.seed) {
    HONE_ASSIGN(const Columns columns, request.next());
    if (columns.empty()) return std::nullopt;
    std::vector<RunnerKernel*> kernels;
    for (const std::size_t column : columns) kernels.push_back(request.kernels[column]);
    HONE_ASSIGN(const KernelResult<measure::MeasureResult> measured,
                runner.measure(kernels, request.sentinel, request.how));
    if (!measured) return who_fails(runner, request, columns, measured.error());
    HONE_ASSIGN(const bool goes_on, request.take(columns, *measured));
    if (request.reload)
      for (RunnerKernel* const kernel : kernels)
        if (kernel->code) HONE_TRY(runner.unload(*kernel));
    if (!goes_on) return std::nullopt;
  }
}

}  // namespace hone::trial
