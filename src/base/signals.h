// Ctrl-C as a descriptor to poll.
#pragma once

#include <memory>

#include "base/fd.h"
#include "base/result.h"

namespace hone {

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
  bool requested() const { return is_readable(fd_.get()); }

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
