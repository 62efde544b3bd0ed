#include "device/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

namespace hone::device::cpu {
namespace {

// Number of polls for work before a thread sleeps. They take about 50 us: longer than the gap
// between two launches of a batch, shorter than the gap between two batches.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

cpu_set_t only(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}

Status check(std::span<const int> cores) {
  if (cores.empty()) return input_error("no core to run on");
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::set<int> seen;
  for (const int core : cores) {
    if (!seen.insert(core).second) return input_error("core {} is listed twice", core);
    if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed))
      return environment_error("core {} is not one that this process may run on", core);
  }
  return {};
}

// Not inlined, so that the stack is back where it was afterwards.
[[gnu::noinline]] void call_shifted(void (*call)(void*, int), void* context, int thread,
                                    std::size_t bytes) {
  void* const unused = __builtin_alloca(bytes);
  asm volatile("" : : "r"(unused) : "memory");
  call(context, thread);
}

}  // namespace

struct ThreadPool::State {
  std::vector<int> cores;
  cpu_set_t former{};
  std::vector<std::thread> threads;
  // Work to call; written before `generation` is raised.
  void (*call)(void*, int) = nullptr;
  void* context = nullptr;
  std::size_t stack_shift = 0;
  bool stopping = false;
  alignas(64) std::atomic<unsigned> generation{0};
  alignas(64) std::atomic<int> running{0};

  void serve(int thread) {
    unsigned seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && generation.load(std::memory_order_acquire) == seen;
           ++spin)
        relax();
      generation.wait(seen, std::memory_order_acquire);
      ++seen;
      if (stopping) return;
      call_shifted(call, context, thread, stack_shift);
      running.fetch_sub(1, std::memory_order_release);
    }
  }

  void start() {
    running.store(static_cast<int>(threads.size()), std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }
};

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(std::span<const int> cores) {
  HONE_TRY(check(cores));
  auto state = std::make_unique<State>();
  state->cores.assign(cores.begin(), cores.end());
  sched_getaffinity(0, sizeof(state->former), &state->former);
  const cpu_set_t main_core = only(cores[0]);
  if (sched_setaffinity(0, sizeof(main_core), &main_core) != 0)
    return environment_error("cannot pin to core {}: {}", cores[0], std::strerror(errno));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(std::move(state)));
  for (std::size_t i = 1; i < cores.size(); ++i) {
    std::thread& thread = pool->state_->threads.emplace_back(
        [state = pool->state_.get(), i] { state->serve(static_cast<int>(i)); });
    const cpu_set_t core = only(cores[i]);
    if (const int error = pthread_setaffinity_np(thread.native_handle(), sizeof(core), &core);
        error != 0)
      return environment_error("cannot pin to core {}: {}", cores[i], std::strerror(error));
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  state_->stopping = true;
  state_->start();
  for (std::thread& thread : state_->threads) thread.join();
  sched_setaffinity(0, sizeof(state_->former), &state_->former);
}

int ThreadPool::size() const {
  return static_cast<int>(state_->cores.size());
}
const std::vector<int>& ThreadPool::cores() const {
  return state_->cores;
}

void ThreadPool::run_erased(void (*call)(void*, int), void* context) {
  if (state_->threads.empty()) {
    call_shifted(call, context, 0, state_->stack_shift);
    return;
  }
  state_->call = call;
  state_->context = context;
  state_->start();
  call_shifted(call, context, 0, state_->stack_shift);
  while (state_->running.load(std::memory_order_acquire) != 0) relax();
}

void ThreadPool::shift_stacks(std::size_t bytes) {
  state_->stack_shift = std::min(bytes, kMostStackShift);
}

std::vector<double> ThreadPool::processor_seconds() const {
  std::vector<double> seconds;
  auto add = [&seconds](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    seconds.push_back(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
  };
  add(CLOCK_THREAD_CPUTIME_ID);
  for (std::thread& thread : state_->threads) {
    clockid_t clock{};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) == 0) add(clock);
  }
  return seconds;
}

}  // namespace hone::device::cpu
