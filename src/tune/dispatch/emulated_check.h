// Verifies compiled candidates on runners whose device emulates the target (--verify-emulated).
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
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

// Verifies the candidates of one dispatch. For one thread, which waits while the lanes work.
class EmulatedCheck {
 public:
  // `problem`: of the dispatch, for any device. `trials` verifies on Emulator::device and, like the
  // emulator, outlives this. A lane gets the problem when it has a candidate.
  EmulatedCheck(const Emulator& emulator, measure::ProblemRequest problem,
                trial::TrialRunner& trials)
      : emulator_(emulator),
        problem_(std::move(problem)),
        trials_(trials),
        is_ready_(emulator.lanes.size(), 0) {}

  // Takes the trials that are compiled (kCompiled) to their verdict, equal code once, for about
  // `seconds` at most. The rest stays compiled. `report` is called about once a second, by this
  // thread, while no lane changes a trial. Errors: the store's; environment if no runner starts;
  // kInterrupted.
  Status verify(const trial::Trials& trials, double seconds, const std::function<void()>& report);

  // Why trials stay compiled although there was time: the dispatch cannot be verified, or the
  // emulator is too slow for it. Empty: they do not.
  const std::string& why_not() const { return why_not_; }
  // Trials that verify() took to a verdict, those of equal code too.
  std::size_t verified() const { return verified_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  Status work(std::size_t lane);
  Status give_problem(std::size_t lane, Lock& lock);
  trial::Trial* next();

  const Emulator& emulator_;
  measure::ProblemRequest problem_;
  trial::TrialRunner& trials_;
  std::vector<char> is_ready_;  // lanes that have the problem
  std::string why_not_;
  // Guards all of the following and the trials, and is released while a runner works.
  std::mutex mutex_;
  std::vector<trial::Trial*> queue_;
  std::size_t next_ = 0;
  std::function<bool()> is_over_;
  std::size_t verdicts_ = 0, timeouts_ = 0;  // of the queue's, in all
  std::size_t verified_ = 0;
};

}  // namespace hone::tune
