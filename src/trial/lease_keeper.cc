#include "trial/lease_keeper.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "store/host.h"

namespace hone::trial {
namespace {

// Interval between two looks at another tuner's work: short against compiling and measuring, long
// against a query of the store.
constexpr int kLookMilliseconds = 100;

}  // namespace

struct LeaseKeeper::State {
  State(store::Store& own, store::Store beating_store, int stop, std::chrono::milliseconds time)
      : store(own),
        beating(std::move(beating_store)),
        stop_fd(stop),
        lease_time(time),
        // A process may hold several sessions; each is an owner of its own.
        owner(fmt::format("{}#{}", store::this_process(), fmt::ptr(this))),
        thread([this] { beat(); }) {}

  ~State() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ended = true;
    }
    wake.notify_all();
    thread.join();
    // Leases that cannot be released expire.
    (void)store.release_all(owner);
  }

  void beat() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!wake.wait_for(lock, lease_time / 4, [this] { return ended; })) {
      // Writes only if leases are held, so that a disk need not wake. A write that fails, on a full
      // disk, is retried; the session meets the same error by itself.
      if (holds_any) (void)beating.heartbeat_all(owner, lease_time);
    }
  }

  store::Store& store;
  store::Store beating;
  const int stop_fd;
  const std::chrono::milliseconds lease_time;
  const std::string owner;
  std::set<std::string> keys;  // held, as far as this tuner knows
  std::atomic<bool> holds_any{false};
  bool ended = false;
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;  // last: it uses the others
};

Result<LeaseKeeper> LeaseKeeper::start(store::Store& store, int stop_fd,
                                       std::chrono::milliseconds lease_time) {
  HONE_ASSIGN(store::Store beating, store::Store::open(store.path(), store::Mode::kReadWrite));
  // Signals go to the session's own thread, whose waiting calls they must end.
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  auto state = std::make_unique<State>(store, std::move(beating), stop_fd, lease_time);
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return LeaseKeeper(std::move(state));
}

LeaseKeeper::LeaseKeeper(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeaseKeeper::LeaseKeeper(LeaseKeeper&&) noexcept = default;
LeaseKeeper::~LeaseKeeper() = default;

Result<bool> LeaseKeeper::take(const std::string& key) {
  HONE_ASSIGN(const bool taken, state_->store.try_lease(key, state_->owner, state_->lease_time));
  if (taken) state_->keys.insert(key);
  state_->holds_any = !state_->keys.empty();
  return taken;
}

Result<bool> LeaseKeeper::is_held(const std::string& key) {
  return state_->store.heartbeat(key, state_->owner, state_->lease_time);
}

Status LeaseKeeper::give_back(const std::string& key) {
  state_->keys.erase(key);
  state_->holds_any = !state_->keys.empty();
  return state_->store.release(key, state_->owner);
}

Status LeaseKeeper::wait() {
  pollfd entry{state_->stop_fd, POLLIN, 0};
  ::poll(&entry, 1, kLookMilliseconds);
  if (is_readable(state_->stop_fd))
    return tl::unexpected(
        Error{ErrorKind::kInterrupted, "stopped while another tuner was at work"});
  return {};
}

std::string compile_key(store::Id candidate) {
  return fmt::format("compile/{}", candidate);
}

std::string measure_key(store::Id dispatch, store::Id device, const std::string& identity) {
  return fmt::format("measure/{}/{}/{}", dispatch, device, identity);
}

}  // namespace hone::trial
