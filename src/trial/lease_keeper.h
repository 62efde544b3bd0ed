// The leases of a session's work in flight, so that several tuners on one store share the work: who
// has the lease on a piece does it, the others put it aside and find its result in the store.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace hone::trial {

// How long a tuner may be silent before another takes over its work. A tuner that died on this
// machine is known at once (store/process.h); this is for one that hangs, was stopped, or died on
// another machine. Longer than anything that keeps a living tuner from a write to the store.
inline constexpr std::chrono::milliseconds kLeaseTime = std::chrono::seconds(60);

// For one thread; a thread of its own keeps the leases alive, through a Store of its own. All are
// given back when it is destroyed.
class LeaseKeeper {
 public:
  // `stop_fd`: once it is readable, waiting ends with kInterrupted; -1: never. Errors of opening
  // the store a second time.
  static Result<LeaseKeeper> start(store::Store& store, int stop_fd,
                                   std::chrono::milliseconds lease_time = kLeaseTime);
  LeaseKeeper(LeaseKeeper&&) noexcept;
  LeaseKeeper& operator=(LeaseKeeper&&) = delete;
  ~LeaseKeeper();

  // True when the work is this tuner's, also when it was before; false while it is another's. What
  // the other did in between is seen by asking the store after this.
  Result<bool> take(const std::string& key);
  // False when another tuner has taken over because this one was silent for too long.
  Result<bool> is_held(const std::string& key);
  Status give_back(const std::string& key);

  // Waits a moment for another tuner to get on, or gives kInterrupted.
  Status wait();

 private:
  struct State;
  explicit LeaseKeeper(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Keys of the two kinds of work: compiling is of a candidate, running of its code, which other
// candidates may share.
std::string compile_key(store::Id candidate);
std::string measure_key(store::Id dispatch, store::Id device, const std::string& identity);

}  // namespace hone::trial
