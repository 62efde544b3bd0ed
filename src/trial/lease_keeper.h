// Leases on a session's work in flight, so that several tuners on one store share the work. The
// holder of a piece's lease does it. The others defer the piece and find its result in the store.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace hone::trial {

// Time for which a tuner may be silent before another takes over its work. A tuner that died on
// this machine is noticed at once (store/host.h). The limit covers a tuner that hangs, was
// stopped, or died on another machine. It exceeds any delay of a living tuner's writes to the
// store.
inline constexpr std::chrono::milliseconds kLeaseTime = std::chrono::seconds(60);

// Holds the session's leases. For one thread; a second, internal thread keeps the leases alive
// through a Store of its own. The destructor releases all of them.
class LeaseKeeper {
 public:
  // Starts the keeper. `stop_fd`: once it is readable, waiting ends with kInterrupted; -1: never.
  // Errors of opening the store a second time.
  static Result<LeaseKeeper> start(store::Store& store, int stop_fd,
                                   std::chrono::milliseconds lease_time = kLeaseTime);
  LeaseKeeper(LeaseKeeper&&) noexcept;
  LeaseKeeper& operator=(LeaseKeeper&&) = delete;
  ~LeaseKeeper();

  // True if this tuner holds the work, newly or already; false while another does. Query the store
  // after this call to see the other's results.
  Result<bool> take(const std::string& key);
  // False if another tuner has taken over because this one was silent for too long.
  Result<bool> is_held(const std::string& key);
  Status give_back(const std::string& key);

  // Waits briefly for another tuner's progress, or returns kInterrupted.
  Status wait();

 private:
  struct State;
  explicit LeaseKeeper(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Keys of the two kinds of work. Compiling has a key per candidate; running has a key per code,
// which candidates may share.
std::string compile_key(store::Id candidate);
std::string measure_key(store::Id dispatch, store::Id device, const std::string& identity);

}  // namespace hone::trial
