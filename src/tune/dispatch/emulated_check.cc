#include "tune/dispatch/emulated_check.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone::tune {
namespace {

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

EmulatedCheck::~EmulatedCheck() {
  stop();
}

void EmulatedCheck::queue(const trial::Trials& trials) {
  for (trial::Trial* const trial : trials) {
    if (trial->state != trial::TrialState::kCompiled || !waiting_.insert(trial).second) continue;
    if (queued_.insert(trial->identity).second) queue_.push_back(trial);
  }
  while (lanes_.size() < std::min(queue_.size(), emulator_.lanes.size()))
    lanes_.emplace_back([this, lane = lanes_.size()] { work(lane); });
  changed_.notify_all();
}

bool EmulatedCheck::is_busy() const {
  return working_ > 0 || (next_ < queue_.size() && why_not_.empty());
}

void EmulatedCheck::wait(Lock& lock, double seconds) {
  changed_.wait_for(lock, std::chrono::duration<double>(seconds));
}

void EmulatedCheck::stop() {
  {
    const Lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  for (std::thread& lane : lanes_) lane.join();
  lanes_.clear();
}

Status EmulatedCheck::finish() {
  stop();
  HONE_TRY(status_);
  for (trial::Trial* const trial : waiting_) {
    // Equal code has its verdict in the store.
    if (trial->state == trial::TrialState::kCompiled) HONE_TRY(trials_.recall(*trial));
    if (trial->state != trial::TrialState::kCompiled) ++verified_;
  }
  return {};
}

void EmulatedCheck::work(std::size_t lane) {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || (next_ < queue_.size() && why_not_.empty()); });
    if (stops_) return;
    trial::Trial& trial = *queue_[next_++];
    ++working_;
    if (Status done = verify(lane, trial, lock); !done) {
      if (status_) status_ = std::move(done);
      stops_ = true;
    }
    --working_;
    changed_.notify_all();
  }
}

Status EmulatedCheck::verify(std::size_t lane, trial::Trial& trial, Lock& lock) {
  if (is_ready_[lane] == 0) HONE_TRY(give_problem(lane, lock));
  if (is_ready_[lane] == 0) return {};
  HONE_ASSIGN(provider::Artifact code, trials_.artifact(trial.candidate));
  trial::RunnerKernel kernel{std::move(code)};
  trial::KernelRunner runner(*emulator_.lanes[lane].runner, {.time = nullptr, .lock = &lock});
  HONE_TRY(trials_.verify(runner, trial, kernel));
  if (!trial.failure) HONE_TRY(runner.unload(kernel));
  const bool timed_out =
      trial.failure && trial.failure->kind == provider::FailureKind::kKernelTimeout;
  ++(timed_out ? timeouts_ : verdicts_);
  if (verdicts_ == 0 && timeouts_ >= kMostTimeouts && why_not_.empty())
    why_not_ = "the first candidates all took longer than --kernel-timeout on the emulator";
  return {};
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

}  // namespace hone::tune
