#include "base/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/process_tree.h"
#include "base/spawn.h"
#include "base/system_random.h"
#include "base/text.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Marks all processes that a run_process starts, see processes_started_with.
constexpr const char* kMark = "HONE_PROCESS";

std::string fresh_mark() {
  return fmt::format("{}-{}", ::getpid(), system_random_name());
}

// Interval of memory checks. A process fills about 2 GB/s, so 40 MB may pass unseen.
constexpr std::chrono::duration<int, std::milli> kLook{20};

// State of a child process while it runs.
struct Running {
  pid_t pid = -1;
  UniqueFd exit;  // readable once it has ended
  UniqueFd output;
  UniqueFd error;
  Clock::time_point start = Clock::now();
  Clock::time_point next_look = start;
  ProcessResult result;

  // Waits for output, the end or `stop_fd`, at most kLook.
  void wait_for_events(int stop_fd) {
    pollfd entries[] = {{output.get(), POLLIN, 0},
                        {error.get(), POLLIN, 0},
                        {exit.get(), POLLIN, 0},
                        {stop_fd, POLLIN, 0}};
    ::poll(entries, std::size(entries), exit ? kLook.count() : 5);
    drain();
  }

  void drain() {
    if (output && read_available(output.get(), result.standard_output) == ReadState::kEnd)
      output.reset();
    if (error && read_available(error.get(), result.standard_error) == ReadState::kEnd)
      error.reset();
  }

  bool passes(const ProcessLimits& limits) {
    if (Clock::now() < next_look) return false;
    next_look = Clock::now() + kLook;
    const std::uint64_t resident = tree_resident_bytes(pid);
    result.peak_resident_bytes = std::max(result.peak_resident_bytes, resident);
    result.out_of_memory = limits.memory_bytes > 0 && resident > limits.memory_bytes;
    result.timed_out = limits.seconds > 0 && seconds_since(start) > limits.seconds;
    return result.out_of_memory || result.timed_out;
  }

  void end() {
    kill_tree(pid);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    result.wall_seconds = seconds_since(start);
  }
};

}  // namespace

Result<ProcessResult> run_process(const Command& command, const ProcessLimits& limits,
                                  int stop_fd) {
  HONE_ASSIGN(FdPair output, make_pipe());
  HONE_ASSIGN(FdPair error, make_pipe());
  HONE_TRY(set_nonblocking(output.first.get(), true));
  HONE_TRY(set_nonblocking(error.first.get(), true));
  Command marked = command;
  const std::string mark = fresh_mark();
  marked.environment.emplace_back(kMark, mark);
  HONE_ASSIGN(const pid_t pid, spawn(marked, {{1, output.second.get()}, {2, error.second.get()}}));
  output.second.reset();
  error.second.reset();

  Running running;
  running.pid = pid;
  running.exit = open_pid(pid);
  running.output = std::move(output.first);
  running.error = std::move(error.first);
  running.result.standard_output = Capture(limits.output_bytes);
  running.result.standard_error = Capture(limits.output_bytes);
  while (!has_ended(pid) && !running.passes(limits) && !is_readable(stop_fd))
    running.wait_for_events(stop_fd);
  const bool stopped = is_readable(stop_fd) && !has_ended(pid);
  running.end();
  kill_processes_started_with(fmt::format("{}={}", kMark, mark));
  running.drain();
  if (stopped)
    return tl::unexpected(
        Error{ErrorKind::kInterrupted, fmt::format("'{}' was interrupted", command.arguments[0])});
  return std::move(running.result);
}

std::string describe(const ProcessResult& result, const ProcessLimits& limits) {
  if (result.timed_out) return fmt::format("no end after {}", format_duration(limits.seconds));
  if (result.out_of_memory)
    return fmt::format("more than {:.1f} GiB of memory",
                       static_cast<double>(limits.memory_bytes) / (1 << 30));
  if (result.signal != 0) return signal_name(result.signal);
  return fmt::format("exit code {}", result.exit_code);
}

}  // namespace hone
