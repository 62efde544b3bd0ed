// Pools that run compile jobs, in forked processes (CompilePool) or in long-lived ones
// (PersistentPool).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "worker/message.h"

namespace hone::worker {

using JobId = std::uint64_t;

struct Finished {
  JobId id = 0;  // as submitted
  Outcome outcome;
  double seconds = 0;  // wall time of the job in its own process; 0 when it never ran
  double ended = monotonic_seconds();  // when that process ended
};

// A job that was no candidate: a whole program, a dispatch that was prepared.
struct JobTime {
  std::string kind;               // Message::kind
  double seconds = 0, ended = 0;  // as Finished
};

// A pool of compile workers. Functions return a Result for errors that end a session: the tuner was
// told to stop (kInterrupted), or no worker can be started (kEnvironment). They return an Outcome
// for failures that end a job. For one thread.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // Runs one job in a process of its own and waits for it. Candidates that finish meanwhile are
  // kept for next_finished().
  virtual Result<Outcome> once(const Message& message) = 0;
  // Runs several such jobs, concurrently if the pool can. Outcomes are in order.
  virtual Result<std::vector<Outcome>> once_each(const std::vector<Message>& messages) {
    std::vector<Outcome> outcomes;
    for (const Message& message : messages) {
      HONE_ASSIGN(Outcome outcome, once(message));
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  // Sets the time limit of further once() jobs, which are then not retried when they exceed it.
  // nullopt: the limit that the pool was made with. No effect on a pool whose jobs do not compile
  // programs.
  virtual void limit_once(std::optional<double> /*seconds*/) {}

  // Starts a once() job in the background; end_once(), called once, waits for it. Nothing if the
  // pool has no process to spare.
  using Begun = std::uint64_t;
  virtual std::optional<Begun> begin_once(const Message&) { return std::nullopt; }
  virtual Result<Outcome> end_once(Begun) { return failure("no job was begun"); }

  // Makes a prepared server named `key` (replacing one of that name) and waits for its answer.
  // After a failure no server of that name exists.
  virtual Result<Outcome> prepare(const std::string& key, const Message& message) = 0;
  // Prepares several servers by key, concurrently if the pool can. Outcomes are in order.
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

  // From now on, candidates of the prepared server `key` go before all others and to every process
  // that the pool keeps for what is waited for. No effect on a pool without either.
  virtual void hurry(const std::string& /*key*/) {}

  // Submits a candidate to the prepared server `key`; never waits. `id` is the caller's, unique
  // among unfinished jobs. An unknown key is an input error.
  virtual Status submit(const std::string& key, JobId id, const Message& message) = 0;

  // Returns the next finished candidate, in order of finishing. std::nullopt when `seconds` pass
  // without one (negative: no limit), or at once when none is outstanding.
  virtual Result<std::optional<Finished>> next_finished(double seconds = -1) = 0;

  // Number of candidates submitted and not yet returned by next_finished().
  virtual std::size_t outstanding() const = 0;

  // Returns the once() and prepare() jobs that have ended since the last call; none where the pool
  // does not count them.
  virtual std::vector<JobTime> take_job_times() { return {}; }

  // Drops the outstanding candidates of the server `key`. One that runs is killed, or its result is
  // dropped where another process would cost more; one that has finished may still be returned.
  virtual Status cancel(const std::string& key) = 0;
};

}  // namespace hone::worker
