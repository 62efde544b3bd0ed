// Takes compile jobs: into forked processes (CompilePool), or into long-lived ones
// (PersistentPool).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/message.h"

namespace hone::worker {

using JobId = std::uint64_t;

struct Finished {
  JobId id = 0;  // as submitted
  Outcome outcome;
  double seconds = 0;  // wall time of the job in its own process; 0 when it never ran
};

// Functions return Result for what ends a session (the tuner was told to stop: kInterrupted; no
// worker can be started: kEnvironment) and Outcome for what ends a job. For one thread.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // Runs one job in a process of its own and waits for it. Finished candidates met meanwhile are
  // kept for next_finished().
  virtual Result<Outcome> once(const Message& message) = 0;
  // Several such jobs, side by side where the pool can. Their outcomes, in order.
  virtual Result<std::vector<Outcome>> once_each(const std::vector<Message>& messages) {
    std::vector<Outcome> outcomes;
    for (const Message& message : messages) {
      HONE_ASSIGN(Outcome outcome, once(message));
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  // From now on jobs of once() may take this long, and one that takes longer is not tried again;
  // nothing: as the pool was made. Without effect on a pool whose jobs are no compiles of programs.
  virtual void limit_once(std::optional<double> /*seconds*/) {}

  // Begins a job of once() beside what follows and does not wait; end_once(), called once, does.
  // Nothing where the pool has no process to spare for it.
  using Begun = std::uint64_t;
  virtual std::optional<Begun> begin_once(const Message&) { return std::nullopt; }
  virtual Result<Outcome> end_once(Begun) { return failure("no job was begun"); }

  // Makes a prepared server named `key` (replacing one of that name) and waits for its answer.
  // After a failure no server of that name exists.
  virtual Result<Outcome> prepare(const std::string& key, const Message& message) = 0;
  // Several of them, by key, side by side where the pool can. Their outcomes, in order.
  virtual Result<std::vector<Outcome>> prepare_each(
      const std::vector<std::pair<std::string, Message>>& servers) {
    std::vector<Outcome> outcomes;
    for (const auto& [key, message] : servers) {
      HONE_ASSIGN(Outcome outcome, prepare(key, message));
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  // Ends the prepared server `key`; its jobs are forgotten.
  virtual Status release(const std::string& key) = 0;

  // Hands in a candidate for the prepared server `key`; never waits. `id` is the caller's, unique
  // among the jobs not finished. An unknown key is an input error.
  virtual Status submit(const std::string& key, JobId id, const Message& message) = 0;

  // The next finished candidate, in order of finishing. std::nullopt when `seconds` pass without
  // one (negative: no limit), or at once when none is outstanding.
  virtual Result<std::optional<Finished>> next_finished(double seconds = -1) = 0;

  // Submitted and not yet returned by next_finished().
  virtual std::size_t outstanding() const = 0;

  // Forgets every candidate outstanding; those running are killed.
  virtual Status cancel_all() = 0;
};

}  // namespace hone::worker
