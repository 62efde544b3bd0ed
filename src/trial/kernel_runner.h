// Running candidates, as the tuner sees it: typed calls to the runner process; kernels that are
// loaded there on demand, verified, and timed interleaved in rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/stopwatch.h"
#include "measure/runner.h"
#include "trial/time_budget.h"
#include "worker/runner_process.h"

namespace hone::trial {

// Result of a job on the runner: an answer, or how the candidate failed.
template <class T>
using KernelResult = tl::expected<T, provider::Failure>;

// A candidate may have written over the memory that the runner's answer is made from.
provider::Failure cannot_be_read(const Error& error);

// Checks that an answer matches its request: the same number of kernels, the same handles. The
// error text continues "the runner's answer".
template <class Request, class Answer>
Status answers(const Request&, const Answer&) {
  return {};
}
Status answers(const std::vector<int>& handles, const measure::Accuracies& kernels);
Status answers(const measure::MeasureRequest& request, const measure::MeasureResult& result);

// Seconds the device ran kernels, by an answer that says so.
template <class Answer>
double busy_seconds_in(const Answer& answer) {
  if constexpr (requires { answer.busy_seconds; })
    return answer.busy_seconds;
  else if constexpr (requires { answer.verification; })
    return answer.verification.busy_seconds;
  else
    return 0;
}

// Typed calls to the runner. For one thread. If a candidate kills the runner, the next call starts
// a new one and gives it the problem again. Handles of the old one are then lost, which
// generation() shows.
class RunnerService {
 public:
  // `kernel_seconds`: time limit for loading or verifying a candidate, and for measuring it beyond
  // the time of its samples. After that the runner is killed and the candidate fails with a kernel
  // timeout.
  explicit RunnerService(std::unique_ptr<worker::RunnerTransport> runner,
                         double kernel_seconds = 60)
      : runner_(std::move(runner)), kernel_seconds_(kernel_seconds) {}
  explicit RunnerService(worker::RunnerProcess process, double kernel_seconds = 60)
      : RunnerService(std::make_unique<worker::RunnerProcess>(std::move(process)), kernel_seconds) {
  }

  // Sets the problem for all later calls. An error if the runner cannot be started or the reference
  // cannot be computed.
  Result<measure::ProblemReady> set_problem(const measure::ProblemRequest& request);

  // Starts the work that set_problem() of an equal request will need, in the background. A failure
  // here is no error: set_problem() then takes that time.
  Status expect_problem(const measure::ProblemRequest& request);

  // Runs a job on the loaded kernels. `seconds`: its time beyond `kernel_seconds`.
  template <class Request, class Answer>
  Result<KernelResult<Answer>> ask(const provider::Job<Request, Answer>& job,
                                   const std::type_identity_t<Request>& request = {},
                                   double seconds = 0) {
    return ask_within(kernel_seconds_ + seconds, job, request);
  }
  // Runs a job for each request, up to the first that fails; answers are in their order.
  template <class Request, class Answer>
  Result<std::vector<KernelResult<Answer>>> ask_all(const provider::Job<Request, Answer>& job,
                                                    const std::vector<Request>& requests);
  // A kernel's handle, once it is loaded, and what came of its verification.
  struct Verified {
    std::optional<int> handle;
    KernelResult<measure::Verification> verification;
  };
  // Loads kernels and verifies each, in one turn of the line, up to the first that fails. Returns
  // one or more results, in their order.
  Result<std::vector<Verified>> load_and_verify(const std::vector<provider::Artifact>& codes);
  bool is_far() const { return runner_->is_far(); }
  // Runs a job whose answer tells nothing; it may not have ended when this returns.
  template <class Request>
  Status post(const provider::Job<Request, provider::Nothing>& job, const Request& request) {
    return runner_->post(job.ask(request), kernel_seconds_);
  }
  // Measures how quiet the device is. Call it before the problem is set: a problem of another
  // device would have to be set again.
  Result<measure::Calibration> calibrate(const device::Address& device);
  // Returns the peak of the problem's cores.
  Result<device::Peak> peak();

  // Seconds for which the device ran kernels that were verified or measured (Device::busy_seconds),
  // summed over the runners' answers. Work of a runner that died before its answer is not counted.
  double busy_seconds() const { return busy_seconds_; }

  // Starts a runner if none lives. generation() then tells which handles it knows.
  Status start() { return runner_->start(); }
  // Does the same, but replaces a living runner that does not answer (worker::RunnerTransport).
  Status ensure_ready() { return runner_->ensure_ready(); }
  // Changes when a dead runner's replacement starts: handles of the old one are lost.
  std::uint64_t generation() const { return runner_->generation(); }

 private:
  template <class Request, class Answer>
  Result<KernelResult<Answer>> ask_within(double seconds, const provider::Job<Request, Answer>& job,
                                          const Request& request);
  template <class Request, class Answer>
  KernelResult<Answer> answer_in(const provider::Job<Request, Answer>& job, const Request& request,
                                 worker::Outcome outcome, double seconds);
  template <class Request, class Answer>
  Result<Answer> ask_device(const provider::Job<Request, Answer>& job, const Request& request);
  Result<worker::Outcome> call(const worker::Message& message, double seconds);
  Result<worker::Outcome> send_problem();
  Status give_problem();  // to a new runner

  std::unique_ptr<worker::RunnerTransport> runner_;
  double kernel_seconds_;
  double busy_seconds_ = 0;
  std::optional<measure::ProblemRequest> problem_;
  std::uint64_t problem_generation_ = 0;  // the runner that has problem_
  int last_handle_ = 0;                   // that the runner gave a kernel
};

template <class Request, class Answer>
Result<KernelResult<Answer>> RunnerService::ask_within(double seconds,
                                                       const provider::Job<Request, Answer>& job,
                                                       const Request& request) {
  const Stopwatch watch;
  HONE_ASSIGN(worker::Outcome outcome, call(job.ask(request), seconds));
  return answer_in(job, request, std::move(outcome), watch.seconds());
}

template <class Request, class Answer>
Result<std::vector<KernelResult<Answer>>> RunnerService::ask_all(
    const provider::Job<Request, Answer>& job, const std::vector<Request>& requests) {
  const Stopwatch watch;
  std::vector<worker::Message> messages;
  for (const Request& request : requests) messages.push_back(job.ask(request));
  HONE_TRY(give_problem());
  HONE_ASSIGN(std::vector<worker::Outcome> outcomes, runner_->call_all(messages, kernel_seconds_));
  std::vector<KernelResult<Answer>> results;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    results.push_back(answer_in(job, requests[i], std::move(outcomes[i]), watch.seconds()));
  return results;
}

template <class Request, class Answer>
KernelResult<Answer> RunnerService::answer_in(const provider::Job<Request, Answer>& job,
                                              const Request& request, worker::Outcome outcome,
                                              double seconds) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  Result<Answer> answer = job.answered_in(*std::move(outcome));
  Status understood = answer ? answers(request, *answer) : tl::unexpected(answer.error());
  if (!understood) return tl::unexpected(cannot_be_read(understood.error()));
  // The device cannot be busy for longer than the call took, whatever the runner reports.
  busy_seconds_ += std::clamp(busy_seconds_in(*answer), 0.0, seconds);
  return std::move(*answer);
}

// Code that the runner runs, or a kernel of a library on the runner.
struct RunnerKernel {
  std::optional<provider::Artifact> code;  // none: only its library can load it
  std::optional<int> handle = {};          // once it is loaded, in the runner `generation`
  std::uint64_t generation = 0;
  // The answer to a verify() that is to come (verify_ahead()).
  std::optional<KernelResult<measure::Verification>> verified = {};
};

// Calls of the runner by kernel. Loads a kernel on demand, and again in a runner that replaces a
// dead one. provider/retry.h decides what is retried; any other failure is the kernel's own. For
// one thread.
class KernelRunner {
 public:
  // Surroundings of each call.
  struct Around {
    TimeBudget* time = nullptr;                    // counts the call by its activity
    std::unique_lock<std::mutex>* lock = nullptr;  // released while the runner works
  };

  explicit KernelRunner(RunnerService& runner) : KernelRunner(runner, Around()) {}
  KernelRunner(RunnerService& runner, const Around& around) : runner_(&runner), around_(around) {}

  // Verifies kernels with code on a machine behind a slow line, in one turn: verify() then has the
  // answers. Kernels behind one that fails are left to verify(). Does nothing on this machine.
  Status verify_ahead(const std::vector<RunnerKernel*>& kernels);
  Result<KernelResult<measure::Verification>> verify(RunnerKernel& kernel);
  // Launches the kernel repeatedly within the time limit and compares the result each time.
  Result<KernelResult<measure::Repeated>> compare(RunnerKernel& kernel, int launches,
                                                  double max_seconds);
  // Returns the accuracy of each kernel's float outputs. Requires a problem whose dispatch has a
  // statement.
  Result<KernelResult<measure::Accuracies>> accuracies(const std::vector<RunnerKernel*>& kernels);
  // Returns the suspicion that explains the kernel's output; empty if none does, or the kernel
  // fails meanwhile.
  Result<std::string> find_mistake(RunnerKernel& kernel,
                                   const std::vector<provider::Suspicion>& suspicions);
  // Times the kernels interleaved, as `how` says, and fills in its handles. Samples are in the
  // order of `kernels`, the sentinel's last. A failure is that of an unknown one of them.
  Result<KernelResult<measure::MeasureResult>> measure(const std::vector<RunnerKernel*>& kernels,
                                                       RunnerKernel* sentinel,
                                                       measure::MeasureRequest how);
  // Unloads the kernel, so that its next run loads it anew, elsewhere in memory. Does nothing if it
  // is not loaded.
  Status unload(RunnerKernel& kernel);

 private:
  template <class Call>
  std::invoke_result_t<Call> ask(Activity activity, std::size_t kernels, const Call& call);
  template <class Call>
  std::invoke_result_t<Call> with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                                  const Call& call);
  bool is_loaded(const RunnerKernel& kernel) const;
  Result<KernelResult<measure::Verification>> verify_far(RunnerKernel& kernel);
  // Loads the kernels; returns the failure of the first that does not load.
  Result<std::optional<provider::Failure>> load(const std::vector<RunnerKernel*>& kernels);

  RunnerService* runner_;
  Around around_;
};

// The kernel that ended the rounds. No column: no kernel with code fails alone.
struct FailedColumn {
  std::optional<std::size_t> column;
  provider::Failure failure;
};

using Columns = std::vector<std::size_t>;

// Rounds in which kernels are timed interleaved. One loop serves search, finalists, libraries,
// shipped forms, comparisons and profiles, each with a protocol of its own (protocols.h).
struct RoundsRequest {
  std::vector<RunnerKernel*> kernels;  // the columns
  RunnerKernel* sentinel = nullptr;    // timed around them, its samples last; no column
  measure::MeasureRequest how;         // of the first round; each further one has the next seed
  // Reloads the kernels in each round, elsewhere in memory. A kernel without code stays where it
  // is.
  bool reload = false;
  // Returns the columns of the next round, in their order within it; none: there is no further
  // round.
  std::function<Result<Columns>()> next;
  // Takes and records the result of a round, whose samples are in the order of its columns. Returns
  // false if it was the last.
  std::function<Result<bool>(const Columns& columns, const measure::MeasureResult& measured)> take;
};

// Makes a RoundsRequest::next that gives `rounds` rounds of all `columns` columns.
std::function<Result<Columns>()> fixed_rounds(int rounds, std::size_t columns);

// Runs rounds until there are no more. If a round fails, each of its kernels with code runs alone,
// to find the one that failed. Errors: those of KernelRunner::measure and of the request's
// functions.
Result<std::optional<FailedColumn>> run_rounds(KernelRunner& runner, RoundsRequest request);

}  // namespace hone::trial
