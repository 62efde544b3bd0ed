// Child processes: a command run to its end, a long-lived child that talks over a socket, and what
// both are made of (posix_spawn).
//
// All: argument vectors (never a shell), stdin from /dev/null, own process group, default signal
// handling, no descriptor inherited but the ones named here. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hone {

// A child's bounded output: its first and last bytes are kept, the dropped middle is counted.
class Capture {
 public:
  // Keeps at most `limit` bytes: the first half and the last half of the added bytes.
  explicit Capture(std::size_t limit = std::size_t{64} << 10) : limit_(limit) {}

  void add(std::string_view bytes);

  // Number of added bytes that text() does not contain.
  std::uint64_t dropped() const;

  // Head and tail. If bytes were dropped, a line "[... N bytes left out ...]" joins them.
  std::string text() const;

 private:
  std::size_t limit_;
  std::string head_;
  std::string tail_;  // up to twice its share, so that trimming is amortised
  std::uint64_t trimmed_ = 0;
};

enum class ReadState { kOpen, kEnd };

// Reads the available bytes of the non-blocking `fd` into `capture`, at most 1 MiB so that a flood
// does not starve the caller's other descriptors. Returns kEnd at end of file or on a read error.
ReadState read_available(int fd, Capture& capture);

// NAME and the value it gets; std::nullopt takes it out of the environment.
using EnvironmentChange = std::pair<std::string, std::optional<std::string>>;

struct Command {
  std::vector<std::string> arguments;  // the first is looked up on PATH unless it holds a '/'
  std::vector<EnvironmentChange> environment = {};
  std::filesystem::path folder = {};  // to run in; empty: the caller's
};

struct ProcessLimits {
  double seconds = 0;              // wall time; 0: none
  std::uint64_t memory_bytes = 0;  // resident, summed over the command and its descendants; 0: none
  std::size_t output_bytes = std::size_t{1} << 20;  // kept of stdout and of stderr, each
};

struct ProcessResult {
  int exit_code = -1;  // -1 when it was ended by a signal
  int signal = 0;      // that ended it, SIGKILL after a limit was passed
  bool timed_out = false;
  bool out_of_memory = false;
  Capture standard_output;
  Capture standard_error;
  double wall_seconds = 0;
  std::uint64_t peak_resident_bytes = 0;  // of all its processes together, as sampled

  bool succeeded() const { return exit_code == 0; }
};

// Runs `command` until it exits, passes a limit, or `stop_fd` (a descriptor; -1: none) becomes
// readable, which gives an error of kind kInterrupted. Whatever it started is killed before this
// returns, also what has left its process group. An environment error when it cannot be started,
// naming the program; an exit code other than 0 is no error.
Result<ProcessResult> run_process(const Command& command, const ProcessLimits& limits = {},
                                  int stop_fd = -1);

// "exit code 3", "SIGSEGV", "no answer in 30 s", "more than 2.0 GiB of memory": how it ended.
std::string describe(const ProcessResult& result, const ProcessLimits& limits);

// A child that lives as long as this object. It finds a stream socket to its parent at descriptor
// kChildSocket.
//
// Its end comes with the parent's end because it sees the socket close (its serving loop must
// watch for that, as the ones of worker/ do). PR_SET_PDEATHSIG is not used here: it fires when the
// *thread* that spawned the child ends, which in a tuner with threads is not the tuner's end.
class ChildProcess {
 public:
  static constexpr int kChildSocket = 3;

  // An environment error, naming the program, when it cannot be started.
  static Result<ChildProcess> start(const Command& command);

  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // kill(), then wait

  pid_t pid() const { return pid_; }  // also its process group
  int socket() const { return socket_.get(); }
  UniqueFd take_socket() { return std::move(socket_); }
  int error_pipe() const { return error_.get(); }  // its stdout and stderr; non-blocking
  int exit_fd() const { return exit_.get(); }  // readable once it has ended; -1 before Linux 5.3

  // Whether it has ended; if so its wait status is kept.
  bool has_ended();
  // Waits at most `seconds` for its end.
  bool wait(double seconds);
  // SIGKILL to its whole process group and its descendants.
  void kill();
  // "exit code 3" or "SIGSEGV"; "running" before its end.
  std::string how_it_ended() const;
  int exit_code() const;    // -1 while running or when ended by a signal
  int exit_signal() const;  // 0 while running or when it exited

 private:
  ChildProcess() = default;
  struct Pid {  // a pid that a moved-from object no longer owns
    pid_t value = -1;
    Pid() = default;
    Pid(Pid&& other) noexcept : value(std::exchange(other.value, -1)) {}
    Pid& operator=(Pid&& other) noexcept {
      std::swap(value, other.value);
      return *this;
    }
    operator pid_t() const { return value; }
  };
  Pid pid_;
  UniqueFd socket_;
  UniqueFd error_;
  UniqueFd exit_;
  std::optional<int> wait_status_;
};

// Starts `command` in a process group of its own with default signal handling, stdin from
// /dev/null and, of all descriptors, only `descriptors`: the number in the child (1 and up, without
// gaps) and the descriptor here. An environment error that names the program.
Result<pid_t> spawn(const Command& command, const std::vector<std::pair<int, int>>& descriptors);

// A descriptor that becomes readable when the child `pid` ends; empty before Linux 5.3.
UniqueFd open_pid(pid_t pid);

// Whether the child `pid` has ended; it is left to be waited for, so that its pid and process group
// stay its own.
bool has_ended(pid_t pid);

// SIGKILL to the descendants of the child `pid` and to its process group. Valid until the child is
// waited for.
void kill_tree(pid_t pid);

// Resident memory of `pid` and its descendants.
std::uint64_t tree_resident_bytes(pid_t pid);

}  // namespace hone
