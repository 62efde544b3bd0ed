#include "tune/dispatch/emulated_check.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "base/stopwatch.h"

namespace hone::tune {
namespace {

constexpr std::chrono::seconds kReportInterval{1};

// So many candidates without an end, and none with a verdict: the rest would take as long.
constexpr std::size_t kMostTimeouts = 3;

}  // namespace

EmulatedVerdict verdict_of(provider::FailureKind failure) {
  using enum provider::FailureKind;
  switch (failure) {
    case kWrong:
    case kKernelCrash:
    case kImpossibleTime:
      return EmulatedVerdict::kWrong;
    case kKernelKilled:
    case kKernelTimeout:
    case kNoVerdict:
      return EmulatedVerdict::kNone;
    default:
      return EmulatedVerdict::kNoCode;
  }
}

Status EmulatedCheck::verify(const trial::Trials& trials, double seconds,
                             const std::function<void()>& report) {
  const Stopwatch watch;
  queue_.clear();
  next_ = 0;
  is_over_ = [&] { return watch.seconds() >= seconds; };
  std::set<std::string> queued;
  std::set<const trial::Trial*> waiting;
  for (trial::Trial* const trial : trials) {
    if (trial->state != trial::TrialState::kCompiled) continue;
    waiting.insert(trial);
    if (queued.insert(trial->identity).second) queue_.push_back(trial);
  }
  const std::size_t lanes = std::min(queue_.size(), emulator_.lanes.size());
  std::vector<std::future<Status>> working;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    working.push_back(std::async(std::launch::async, [this, lane] { return work(lane); }));
  Status status;
  for (std::future<Status>& each : working) {
    while (each.wait_for(kReportInterval) != std::future_status::ready) {
      const Lock lock(mutex_);
      report();
    }
    if (Status done = each.get(); !done && status) status = std::move(done);
  }
  HONE_TRY(status);
  // Equal code has its verdict in the store.
  for (trial::Trial* const trial : trials) {
    if (!waiting.contains(trial)) continue;
    if (trial->state == trial::TrialState::kCompiled) HONE_TRY(trials_.recall(*trial));
    if (trial->state != trial::TrialState::kCompiled) ++verified_;
  }
  return {};
}

trial::Trial* EmulatedCheck::next() {
  if (!why_not_.empty() || next_ == queue_.size() || is_over_()) return nullptr;
  return queue_[next_++];
}

Status EmulatedCheck::give_problem(std::size_t lane, Lock& lock) {
  measure::ProblemRequest request = problem_;
  request.device = emulator_.lanes[lane].device;
  lock.unlock();
  const Result<measure::ProblemReady> ready = emulator_.lanes[lane].runner->set_problem(request);
  lock.lock();
  HONE_TRY(all_but_failure(ready));
  if (!ready) {
    why_not_ = ready.error().message;
    return {};
  }
  is_ready_[lane] = 1;
  if (trials_.reference().empty()) trials_.verify_by(ready->reference);
  return {};
}

Status EmulatedCheck::work(std::size_t lane) {
  Lock lock(mutex_);
  while (trial::Trial* const trial = next()) {
    if (is_ready_[lane] == 0) HONE_TRY(give_problem(lane, lock));
    if (is_ready_[lane] == 0) return {};
    HONE_ASSIGN(provider::Artifact code, trials_.artifact(trial->candidate));
    trial::RunnerKernel kernel{std::move(code)};
    trial::KernelRunner runner(*emulator_.lanes[lane].runner, {.time = nullptr, .lock = &lock});
    HONE_TRY(trials_.verify(runner, *trial, kernel));
    if (!trial->failure) HONE_TRY(runner.unload(kernel));
    const bool timed_out =
        trial->failure && trial->failure->kind == provider::FailureKind::kKernelTimeout;
    ++(timed_out ? timeouts_ : verdicts_);
    if (verdicts_ == 0 && timeouts_ >= kMostTimeouts && why_not_.empty())
      why_not_ = "the first candidates all took longer than --kernel-timeout on the emulator";
  }
  return {};
}

}  // namespace hone::tune
