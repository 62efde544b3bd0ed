// Threads pinned to cores, which start together with little delay.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace hone::device::cpu {

// Runs one thread per core; thread 0 is the creating thread, and it stays pinned. The others spin
// for a moment after each piece of work, so that consecutive launches start within a microsecond.
// Then they sleep, so that they take nothing from the next program. All calls come from the
// creating thread.
class ThreadPool {
 public:
  // Pins the calling thread to cores[0] and starts a pinned thread for each further core. Input
  // error: no core, or one listed twice. Environment error: a core that is not available.
  static Result<std::unique_ptr<ThreadPool>> create(std::span<const int> cores);
  // Ends the threads and gives the calling thread its former cores back.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  const std::vector<int>& cores() const;

  // Calls work(thread), thread in [0, size), once on every thread at the same time; returns when
  // all have returned. `work` must not throw. With one thread it is a plain call.
  template <class Work>
  void run(Work&& work) {
    auto call = [](void* context, int thread) {
      (*static_cast<std::remove_reference_t<Work>*>(context))(thread);
    };
    run_erased(call, &work);
  }

  // Starts all later work `bytes` further down on every thread's stack (at most kMostStackShift,
  // more is clamped). A kernel's own arrays then lie elsewhere within a page.
  void shift_stacks(std::size_t bytes);
  static constexpr std::size_t kMostStackShift = 4096;

  // Processor time each thread has had so far, in seconds, by thread.
  std::vector<double> processor_seconds() const;

 private:
  struct State;
  explicit ThreadPool(std::unique_ptr<State> state);
  void run_erased(void (*call)(void*, int), void* context);
  std::unique_ptr<State> state_;
};

}  // namespace hone::device::cpu
