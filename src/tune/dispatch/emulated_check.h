// Verifies compiled candidates on runners whose device emulates the target (--verify-emulated).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/place.h"
#include "measure/runner_requests.h"
#include "provider/artifact.h"
#include "trial/kernel_runner.h"
#include "trial/trial_runner.h"

namespace hone::tune {

// Runners that emulate the target, each for one core of this machine, and the device's row in the
// store. The runners outlive whoever gets this.
struct Emulator {
  struct Lane {
    trial::RunnerService* runner = nullptr;
    device::Address device = {};
  };
  std::vector<Lane> lanes;  // at least one
  store::Id device = 0;
};

// Meaning of a candidate's failure for its code.
enum class EmulatedVerdict {
  kNoCode,  // there is none that the device loads
  kWrong,   // wrong results, or an access that it may not do
  kNone,  // the emulator did not get to the end: too slow, or an instruction that it does not know
};
EmulatedVerdict verdict_of(provider::FailureKind failure);

// Verifies the candidates of one dispatch, while others compile. Its lanes are threads, which work
// from queue() to finish(). One thread calls it, and holds lock() whenever it touches the trials or
// their runner.
class EmulatedCheck {
 public:
  using Lock = std::unique_lock<std::mutex>;

  // `problem`: of the dispatch, for any device. `trials` verifies on Emulator::device and, like the
  // emulator, outlives this. A lane gets the problem when it has a candidate.
  EmulatedCheck(const Emulator& emulator, measure::ProblemRequest problem,
                trial::TrialRunner& trials)
      : emulator_(emulator),
        problem_(std::move(problem)),
        trials_(trials),
        is_ready_(emulator.lanes.size(), 0) {}
  ~EmulatedCheck();
  EmulatedCheck(const EmulatedCheck&) = delete;
  EmulatedCheck& operator=(const EmulatedCheck&) = delete;

  Lock lock() { return Lock(mutex_); }
  // Queues the trials that are compiled (kCompiled), equal code once. They outlive finish(). The
  // caller holds the lock.
  void queue(const trial::Trials& trials);
  // Whether a lane works or has work. The caller holds the lock, as for has_failed().
  bool is_busy() const;
  // Whether finish() will return an error: the lanes have stopped.
  bool has_failed() const { return !status_; }
  // Releases the lock for `seconds` at most, less if a lane ends a trial.
  void wait(Lock& lock, double seconds);
  // Ends the lanes after their present trials. The caller does not hold the lock. Trials have their
  // verdict then (kVerified, kFailed), those that were not begun are still compiled. Errors: the
  // store's; environment if no runner starts; kInterrupted.
  Status finish();

  // Reason why trials stay compiled although there was time: the dispatch cannot be verified, or
  // the emulator is too slow for it. Empty: they do not.
  const std::string& why_not() const { return why_not_; }
  // Number of trials with a verdict, those of equal code too; known after finish().
  std::size_t verified() const { return verified_; }

 private:
  void work(std::size_t lane);
  Status verify(std::size_t lane, trial::Trial& trial, Lock& lock);
  Status give_problem(std::size_t lane, Lock& lock);
  void stop();

  const Emulator& emulator_;
  measure::ProblemRequest problem_;
  trial::TrialRunner& trials_;
  std::vector<std::thread> lanes_;
  // Guards all of the following and the trials, and is released while a runner works.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> is_ready_;  // lanes that have the problem
  std::vector<trial::Trial*> queue_;
  std::size_t next_ = 0, working_ = 0;
  std::set<std::string> queued_;     // identities
  std::set<trial::Trial*> waiting_;  // trials seen as compiled, those of equal code too
  bool stops_ = false;
  Status status_;
  std::string why_not_;
  std::size_t verdicts_ = 0, timeouts_ = 0;  // of the queue's
  std::size_t verified_ = 0;
};

}  // namespace hone::tune
