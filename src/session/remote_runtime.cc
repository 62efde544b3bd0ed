#include "session/remote_runtime.h"

#include <mutex>
#include <optional>
#include <utility>

#include "session/remote_jobs.h"

namespace hone::session {
namespace {

using provider::ProgramCall;

// A connection that is lost twice in one call will not come back for a third.
constexpr int kTries = 2;
// Opening a device and loading a module there, beyond the time that calls take.
constexpr double kSetUpSeconds = 60;

// The connection that timers share with the runtime.
class Machine {
 public:
  explicit Machine(std::shared_ptr<worker::RemoteWorker> worker) : worker_(std::move(worker)) {}

  // `request` is made anew for each try: files are sent on the connection that the job uses.
  template <class Request, class Answer, class Make>
  Result<Answer> ask(const provider::Job<Request, Answer>& job, double seconds, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (int tries = 0; tries < kTries; ++tries) {
      HONE_ASSIGN(std::optional<Request> request, make(*this));
      if (!request) continue;
      HONE_ASSIGN(worker::Outcome outcome, worker_->ask(job.ask(std::move(*request)), seconds));
      if (outcome) return job.answered_in(std::move(*outcome));
      lost_ = std::move(outcome).error().message;
    }
    return environment_error("{}", lost_);
  }

  // Nothing if the connection was lost meanwhile.
  Result<std::optional<std::string>> sent(const std::filesystem::path& file) {
    HONE_ASSIGN(auto name, worker_->send_file(file));
    if (name) return std::optional(std::move(*name));
    lost_ = std::move(name).error().message;
    return std::optional<std::string>();
  }

  Result<std::optional<std::vector<std::string>>> sent(
      const std::vector<std::filesystem::path>& files) {
    std::vector<std::string> names;
    for (const std::filesystem::path& file : files) {
      std::optional<std::string> name{std::string()};
      if (!file.empty()) {
        HONE_ASSIGN(name, sent(file));
      }
      if (!name) return std::optional<std::vector<std::string>>();
      names.push_back(std::move(*name));
    }
    return std::optional(std::move(names));
  }

  void end_timer(int number) {
    const std::lock_guard lock(mutex_);
    // Its processes have ended with the connection, which is not made again for that.
    if (worker_->is_connected())
      static_cast<void>(worker_->ask(remote::kEndTimer.ask(number), kSetUpSeconds));
  }

  int new_timer() {
    const std::lock_guard lock(mutex_);
    return ++timers_;
  }

 private:
  std::shared_ptr<worker::RemoteWorker> worker_;
  std::mutex mutex_;
  std::string lost_;  // why the last try gave no answer
  int timers_ = 0;
};

// Ends the processes of a timer there.
class Timer {
 public:
  explicit Timer(std::shared_ptr<Machine> machine)
      : machine_(std::move(machine)), number_(machine_->new_timer()) {}
  Timer(const Timer&) = delete;
  ~Timer() { machine_->end_timer(number_); }
  int number() const { return number_; }
  Machine& machine() const { return *machine_; }

 private:
  std::shared_ptr<Machine> machine_;
  int number_;
};

// A flag whose value is the path of a file, behind its last '=': --parameters=model=weights.irpa.
Result<std::optional<remote::Flag>> sent_flag(Machine& machine, const std::string& flag) {
  const std::size_t value = flag.rfind('=');
  std::error_code code;
  if (value == std::string::npos || !std::filesystem::is_regular_file(flag.substr(value + 1), code))
    return std::optional(remote::Flag{flag, ""});
  HONE_ASSIGN(std::optional<std::string> name, machine.sent(flag.substr(value + 1)));
  if (!name) return std::optional<remote::Flag>();
  return std::optional(remote::Flag{flag.substr(0, value + 1), std::move(*name)});
}

Result<std::optional<remote::Call>> sent_call(Machine& machine, const ProgramCall& call) {
  HONE_ASSIGN(std::optional<std::string> module, machine.sent(call.module));
  HONE_ASSIGN(auto inputs, machine.sent(call.inputs));
  if (!module || !inputs) return std::optional<remote::Call>();
  remote::Call sent{.module = std::move(*module),
                    .function = call.function,
                    .inputs = std::move(*inputs),
                    .device = call.device,
                    .flags = {},
                    .most_seconds = call.most_seconds};
  for (const std::string& flag : call.runtime_flags) {
    HONE_ASSIGN(std::optional<remote::Flag> each, sent_flag(machine, flag));
    if (!each) return std::optional<remote::Call>();
    sent.flags.push_back(std::move(*each));
  }
  return std::optional(std::move(sent));
}

template <class Answer>
Result<Answer> ask_call(Machine& machine, const provider::Job<remote::Call, Answer>& job,
                        const ProgramCall& call, int timer, double seconds, std::size_t results) {
  const auto make = [&](Machine& at) -> Result<std::optional<remote::Call>> {
    HONE_ASSIGN(std::optional<remote::Call> sent, sent_call(at, call));
    if (!sent) return sent;
    sent->timer = timer;
    sent->seconds = seconds;
    sent->results = results;
    return sent;
  };
  return machine.ask(job, call.most_seconds + kSetUpSeconds, make);
}

class RemoteRuntime final : public provider::ProgramRuntime {
 public:
  explicit RemoteRuntime(std::shared_ptr<worker::RemoteWorker> worker)
      : machine_(std::make_shared<Machine>(std::move(worker))) {}

  Result<provider::ModuleFunctions> functions(const std::filesystem::path& module) const override {
    return machine_->ask(remote::kFunctions, kSetUpSeconds,
                         [&](Machine& at) { return at.sent(module); });
  }

  Result<std::vector<problem::Array>> run(const ProgramCall& call,
                                          std::size_t results) const override {
    return ask_call(*machine_, remote::kRun, call, 0, 0, results).map(arrays_of);
  }

  provider::ProgramTimers timers(const device::Address& device) const override {
    const auto timer = std::make_shared<Timer>(machine_);
    provider::ProgramTimers timers;
    timers.programs = [timer](const ProgramCall& call, double seconds) {
      return ask_call(timer->machine(), remote::kTime, call, timer->number(), seconds, 0);
    };
    if (device.index)
      timers.calls = [timer](const ProgramCall& call, std::size_t results) {
        return ask_call(timer->machine(), remote::kRunInTimer, call, timer->number(), 0, results)
            .map(arrays_of);
      };
    else
      timers.kernels = [timer](const ProgramCall& call, double seconds) {
        return ask_call(timer->machine(), remote::kKernelTimes, call, timer->number(), seconds, 0);
      };
    timers.short_calls_vary = !device.index;
    return timers;
  }

  Result<double> time_artifact(const provider::ArtifactCall& call, double seconds) const override {
    const auto make = [&](Machine& at) -> Result<std::optional<remote::Launches>> {
      HONE_ASSIGN(auto contents, at.sent(call.contents));
      if (!contents) return std::optional<remote::Launches>();
      return remote::Launches{*call.artifact, std::move(*contents), call.types,
                              call.device,    call.launches,        seconds};
    };
    return machine_->ask(remote::kTimeArtifact, kSetUpSeconds + 10 * seconds, make);
  }

 private:
  static std::vector<problem::Array> arrays_of(remote::Arrays arrays) {
    return std::move(arrays.arrays);
  }

  std::shared_ptr<Machine> machine_;
};

}  // namespace

std::shared_ptr<const provider::ProgramRuntime> remote_runtime(
    std::shared_ptr<worker::RemoteWorker> worker) {
  return std::make_shared<RemoteRuntime>(std::move(worker));
}

}  // namespace hone::session
