#include "base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
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

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<FdPair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return environment_error("cannot make a pipe: {}", std::strerror(errno));
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<FdPair> make_stream_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return environment_error("cannot make a pair of sockets: {}", std::strerror(errno));
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Status set_nonblocking(int fd, bool nonblocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 ||
      ::fcntl(fd, F_SETFL, nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0)
    return environment_error("cannot set up descriptor {}: {}", fd, std::strerror(errno));
  return {};
}

bool is_readable(int fd) {
  if (fd < 0) return false;
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0 && entry.revents != 0;
}

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
