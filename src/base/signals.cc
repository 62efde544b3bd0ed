#include "base/signals.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hone {
namespace {

constexpr int kInterruptedExitCode = 130;

// A signal handler has no argument to carry state in.
std::atomic<int> stop_event{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void on_stop(int) {
  const int saved = errno;
  const int event = stop_event.exchange(-1);
  if (event < 0) ::_exit(kInterruptedExitCode);
  const std::uint64_t one = 1;
  if (::write(event, &one, sizeof one) < 0) ::_exit(kInterruptedExitCode);
  errno = saved;
}

}  // namespace

struct StopSignal::Former {
  struct sigaction interrupt;
  struct sigaction terminate;
};

Result<StopSignal> StopSignal::install() {
  StopSignal stop;
  stop.fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.fd_) return environment_error("cannot watch for Ctrl-C: {}", std::strerror(errno));
  stop_event = stop.fd_.get();
  struct sigaction action = {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  stop.former_.reset(new Former{});
  ::sigaction(SIGINT, &action, &stop.former_->interrupt);
  ::sigaction(SIGTERM, &action, &stop.former_->terminate);
  return stop;
}

StopSignal::~StopSignal() = default;

void StopSignal::Restore::operator()(Former* former) const {
  ::sigaction(SIGINT, &former->interrupt, nullptr);
  ::sigaction(SIGTERM, &former->terminate, nullptr);
  stop_event = -1;
  delete former;
}

}  // namespace hone
