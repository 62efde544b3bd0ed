#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>

#include "base/process.h"
#include "base/process_tree.h"
#include "base/spawn.h"

namespace hone {

Result<ChildProcess> ChildProcess::start(const Command& command) {
  HONE_ASSIGN(FdPair sockets, make_stream_socket_pair());
  HONE_ASSIGN(FdPair error, make_pipe());
  HONE_TRY(set_nonblocking(error.first.get(), true));
  const int printed = error.second.get();
  ChildProcess child;
  HONE_ASSIGN(child.pid_.value,
              spawn(command, {{1, printed}, {2, printed}, {kChildSocket, sockets.second.get()}}));
  child.socket_ = std::move(sockets.first);
  child.error_ = std::move(error.first);
  child.exit_ = open_pid(child.pid_);
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_.value, other.pid_.value);
  std::swap(socket_, other.socket_);
  std::swap(error_, other.error_);
  std::swap(exit_, other.exit_);
  std::swap(wait_status_, other.wait_status_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
  wait(/*seconds=*/10);
}

bool ChildProcess::has_ended() {
  if (pid_ < 0 || wait_status_) return true;
  if (!hone::has_ended(pid_)) return false;
  kill_tree(pid_);  // while the group is still its own
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) wait_status_ = status;
  return true;
}

bool ChildProcess::wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!has_ended()) {
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    pollfd entry{exit_.get(), POLLIN, 0};
    ::poll(&entry, 1, exit_ ? static_cast<int>(left.count() * 1000) + 1 : 5);
  }
  return true;
}

void ChildProcess::kill() {
  if (!has_ended()) kill_tree(pid_);
}

std::string ChildProcess::how_it_ended() const {
  if (!wait_status_) return "running";
  if (exit_signal() != 0) return signal_name(exit_signal());
  return fmt::format("exit code {}", exit_code());
}

int ChildProcess::exit_code() const {
  return wait_status_ && WIFEXITED(*wait_status_) ? WEXITSTATUS(*wait_status_) : -1;
}

int ChildProcess::exit_signal() const {
  return wait_status_ && WIFSIGNALED(*wait_status_) ? WTERMSIG(*wait_status_) : 0;
}

}  // namespace hone
