// One forked child of the zygote or of a prepared server, seen from its parent.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/capture.h"
#include "provider/retry.h"
#include "worker/fork_server.h"
#include "worker/message.h"

namespace hone::worker {

// What a look at a child gave: nothing new, a message, or a failure after which it is to be ended.
struct Event {
  std::optional<Message> message;
  std::optional<provider::Failure> failure;
};

// Destroying one closes its descriptors and no more, so that a forked copy of its parent can let go
// of it. end() is what ends the child.
class JobProcess {
 public:
  // Forks. In the child, `work` gets the socket to the parent and the process ends when it returns;
  // stdout and stderr are captured, TMPDIR is `folder` (made here), the process group is its own
  // and it dies with its parent. For a process with one thread.
  static Result<JobProcess> start(std::filesystem::path folder, const JobLimits& limits,
                                  const std::function<void(UniqueFd socket)>& work);

  pid_t pid() const { return pid_; }
  double seconds() const;  // since its start
  Connection& connection() { return connection_; }

  // From now on neither time nor memory is watched.
  void lift_limits();

  void add_poll_entries(std::vector<pollfd>& entries) const;

  // Reads what it said and printed; never blocks.
  Event look();

  // Kills the child, its group and descendants, waits for it and removes its folder.
  void end();

  // Adds what the child printed to a failure that does not hold it yet.
  provider::Failure with_last_words(provider::Failure failure) const;

 private:
  JobProcess(pid_t pid, UniqueFd socket, UniqueFd printed, std::filesystem::path folder,
             const JobLimits& limits);
  std::optional<provider::Failure> passed_limit();
  provider::Failure how_it_died() const;

  pid_t pid_;
  UniqueFd exit_;
  Connection connection_;
  UniqueFd printed_;
  Capture words_;
  std::filesystem::path folder_;
  JobLimits limits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_look_ = start_;
};

// provider/retry.h of a job that was run once, or twice.
inline bool is_tried_again(const Outcome& outcome, bool is_second_try) {
  return !outcome && provider::is_tried_again(provider::Attempt::kJob, outcome.error().kind,
                                              is_second_try ? 2 : 1);
}

// What a failure says of a process that took more than its limit.
std::string more_memory_than(std::uint64_t bytes);

// Limits of one of a job's two tries: the second has twice the time.
JobLimits of_try(JobLimits limits, bool is_second);

// The longest that both tries of a job may take; 0: no limit.
double seconds_of_both_tries(const JobLimits& limits);

// Kills and reaps the children of this process that are not among `known` and not in the process
// group of one of them: what jobs left behind and this subreaper inherited. Returns whether any
// child is left that is not known.
bool end_orphans(const std::vector<pid_t>& known);

// Runs `handler`; an exception becomes a failure of kind `on_exception`.
Outcome guarded(const std::function<Outcome(const Message&)>& handler, const Message& message,
                provider::FailureKind on_exception);

// Sends the answer of a handler; a failure to send it (too large) is sent instead.
void answer(int socket, Outcome outcome);

// The time between two looks at limits and orphans. A process fills about 2 GB/s, so 40 MB may pass
// unseen.
inline constexpr std::chrono::milliseconds kLookInterval{20};

}  // namespace hone::worker
