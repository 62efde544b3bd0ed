// File descriptors that are closed when their owner goes, and Ctrl-C as one to poll.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"

namespace hone {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

struct FdPair {
  UniqueFd first;   // of a pipe: the end that is read
  UniqueFd second;  // of a pipe: the end that is written
};

// Both ends are closed on exec. An environment error when the process is out of descriptors.
Result<FdPair> make_pipe();
Result<FdPair> make_stream_socket_pair();

Status set_nonblocking(int fd, bool nonblocking);

// Whether `fd` is readable (or at its end) now; false for a negative `fd`. Never blocks.
bool is_readable(int fd);

// Handles SIGINT and SIGTERM while it lives. The first makes fd() readable for good. The second
// ends the process at once with exit code 130; children see their sockets close and leave, and the
// store's transactions keep all records. At most one at a time in a process.
class StopSignal {
 public:
  static Result<StopSignal> install();
  StopSignal(StopSignal&&) noexcept = default;
  StopSignal& operator=(StopSignal&&) = delete;
  ~StopSignal();  // the former handling is restored

  int fd() const { return fd_.get(); }

 private:
  StopSignal() = default;
  struct Former;
  struct Restore {
    void operator()(Former* former) const;
  };
  UniqueFd fd_;
  std::unique_ptr<Former, Restore> former_;
};

}  // namespace hone
