// A forked child of the zygote or of a prepared server, seen from its parent.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/process.h"
#include "provider/retry.h"
#include "worker/fork_server.h"
#include "worker/message.h"

namespace hone::worker {

// Result of a look at a child: nothing new, a message, or a failure after which the child must be
// ended.
struct Event {
  std::optional<Message> message;
  std::optional<provider::Failure> failure;
};

// A forked child. The destructor only closes descriptors, so that a forked copy of the parent can
// let go of it. end() ends the child.
class JobProcess {
 public:
  // Forks. The child runs `work` with the socket to the parent, and ends when it returns. Its
  // stdout and stderr are captured, TMPDIR is `folder` (made here), it has its own process group,
  // and it dies with its parent. Requires a process with one thread.
  static Result<JobProcess> start(std::filesystem::path folder, const JobLimits& limits,
                                  const std::function<void(UniqueFd socket)>& work);

  pid_t pid() const { return pid_; }
  double seconds() const;  // since its start
  Connection& connection() { return connection_; }

  // Stops watching time and memory.
  void lift_limits();

  void add_poll_entries(std::vector<pollfd>& entries) const;

  // Reads what it said and printed; never blocks.
  Event look();

  // Kills the child, its group and descendants, waits for it and removes its folder.
  void end();

  // The outcome that the child answered with. A failure gets what the child printed, as those of
  // look() have.
  Outcome outcome_in(Message message) const;

 private:
  JobProcess(pid_t pid, UniqueFd socket, UniqueFd printed, std::filesystem::path folder,
             const JobLimits& limits);
  provider::Failure how_it_died() const;
  provider::Failure with_last_words(provider::Failure failure) const;

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

// Applies provider/retry.h to a job that ran once, or twice.
inline bool is_tried_again(const Outcome& outcome, bool is_second_try) {
  return !outcome && provider::is_tried_again(provider::Attempt::kJob, outcome.error().kind,
                                              is_second_try ? 2 : 1);
}

// Failure message for a process that exceeded its memory limit of `bytes`.
std::string more_memory_than(std::uint64_t bytes);

// Limits of one of a job's two tries: the second has twice the time.
JobLimits of_try(JobLimits limits, bool is_second);

// The longest that both tries of a job may take; 0: no limit.
double seconds_of_both_tries(const JobLimits& limits);

// Kills and reaps unknown children of this process: what jobs left behind and this subreaper
// inherited. Known are the pids in `known` and members of their process groups. Returns whether any
// unknown child is left.
bool end_orphans(const std::vector<pid_t>& known);

// Runs `handler`; an exception becomes a failure of kind `on_exception`.
Outcome guarded(const std::function<Outcome(Message)>& handler, Message message,
                provider::FailureKind on_exception);

// Sends the answer of a handler; a failure to send it (too large) is sent instead.
void answer(int socket, Outcome outcome);

// The time between two looks at limits and orphans. A process fills about 2 GB/s, so 40 MB may pass
// unseen.
inline constexpr std::chrono::milliseconds kLookInterval{20};

}  // namespace hone::worker
