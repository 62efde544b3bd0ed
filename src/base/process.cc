#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/hash.h"
#include "base/process_tree.h"
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

std::vector<std::string> changed_environment(const std::vector<EnvironmentChange>& changes) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    bool kept = true;
    for (const auto& [name, value] : changes)
      kept = kept && variable.substr(0, variable.find('=')) != name;
    if (kept) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : changes)
    if (value) variables.push_back(name + "=" + *value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// File actions and attributes that posix_spawn applies in the child before it executes the program.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

void set_group_and_signals(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  sigdelset(&defaults, SIGKILL);
  sigdelset(&defaults, SIGSTOP);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

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

Result<ChildProcess> ChildProcess::start(const Command& command) {
  HONE_ASSIGN(FdPair sockets, make_stream_socket_pair());
  HONE_ASSIGN(FdPair error, make_pipe());
  HONE_TRY(set_nonblocking(error.first.get(), true));
  const int printed = error.second.get();
  ChildProcess child;
  HONE_ASSIGN(child.pid_.value,
              spawn(command, {{1, printed}, {2, printed}, {kChildSocket, sockets.second.get()}}));
  child.socket_ = std::move(sockets.first);
  child.error_ = std::move(error.first);
  child.exit_ = open_pid(child.pid_);
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_.value, other.pid_.value);
  std::swap(socket_, other.socket_);
  std::swap(error_, other.error_);
  std::swap(exit_, other.exit_);
  std::swap(wait_status_, other.wait_status_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
  wait(/*seconds=*/10);
}

bool ChildProcess::has_ended() {
  if (pid_ < 0 || wait_status_) return true;
  if (!hone::has_ended(pid_)) return false;
  kill_tree(pid_);  // while the group is still its own
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) wait_status_ = status;
  return true;
}

bool ChildProcess::wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!has_ended()) {
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    pollfd entry{exit_.get(), POLLIN, 0};
    ::poll(&entry, 1, exit_ ? static_cast<int>(left.count() * 1000) + 1 : 5);
  }
  return true;
}

void ChildProcess::kill() {
  if (!has_ended()) kill_tree(pid_);
}

std::string ChildProcess::how_it_ended() const {
  if (!wait_status_) return "running";
  if (exit_signal() != 0) return signal_name(exit_signal());
  return fmt::format("exit code {}", exit_code());
}

int ChildProcess::exit_code() const {
  return wait_status_ && WIFEXITED(*wait_status_) ? WEXITSTATUS(*wait_status_) : -1;
}

int ChildProcess::exit_signal() const {
  return wait_status_ && WIFSIGNALED(*wait_status_) ? WTERMSIG(*wait_status_) : 0;
}

void Capture::add(std::string_view bytes) {
  const std::size_t head_limit = limit_ / 2;
  const std::size_t tail_limit = limit_ - head_limit;
  const std::size_t to_head = std::min(bytes.size(), head_limit - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= tail_limit) {
    trimmed_ += tail_.size() + bytes.size() - tail_limit;
    tail_ = bytes.substr(bytes.size() - tail_limit);
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * tail_limit) {
    trimmed_ += tail_.size() - tail_limit;
    tail_.erase(0, tail_.size() - tail_limit);
  }
}

std::uint64_t Capture::dropped() const {
  const std::size_t tail_limit = limit_ - limit_ / 2;
  return trimmed_ + (tail_.size() > tail_limit ? tail_.size() - tail_limit : 0);
}

std::string Capture::text() const {
  const std::uint64_t left_out = dropped();
  if (left_out == 0) return head_ + tail_;
  const std::size_t tail_size = std::min(tail_.size(), limit_ - limit_ / 2);
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", head_, left_out,
                     std::string_view(tail_).substr(tail_.size() - tail_size));
}

ReadState read_available(int fd, Capture& capture) {
  char buffer[std::size_t{64} << 10];
  for (std::size_t total = 0; total < (std::size_t{1} << 20);) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count > 0) {
      capture.add({buffer, static_cast<std::size_t>(count)});
      total += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      const bool nothing_now = count < 0 && errno == EAGAIN;
      return nothing_now ? ReadState::kOpen : ReadState::kEnd;
    }
  }
  return ReadState::kOpen;
}

Result<pid_t> spawn(const Command& command, const std::vector<std::pair<int, int>>& descriptors) {
  if (command.arguments.empty()) return input_error("cannot run a command without a program");
  std::error_code code;
  if (!command.folder.empty() && !std::filesystem::is_directory(command.folder, code))
    return environment_error("cannot run '{}' in '{}': no such folder", command.arguments[0],
                             command.folder.string());
  SpawnSettings settings;
  set_group_and_signals(settings.attributes);
  posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  // Copies with high numbers: putting one descriptor in its place must not close another.
  constexpr int kOutOfTheWay = 64;
  std::vector<UniqueFd> copies;
  int last = 0;
  for (const auto& [in_child, here] : descriptors) {
    copies.emplace_back(::fcntl(here, F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (!copies.back())
      return environment_error("cannot run '{}': {}", command.arguments[0], std::strerror(errno));
    posix_spawn_file_actions_adddup2(&settings.actions, copies.back().get(), in_child);
    last = std::max(last, in_child);
  }
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, last + 1);
  if (!command.folder.empty())
    posix_spawn_file_actions_addchdir_np(&settings.actions, command.folder.c_str());

  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = changed_environment(command.environment);
  pid_t pid = -1;
  const int failed =
      ::posix_spawnp(&pid, arguments[0].c_str(), &settings.actions, &settings.attributes,
                     pointers_to(arguments).data(), pointers_to(environment).data());
  if (failed != 0)
    return environment_error("cannot run '{}': {}", arguments[0], std::strerror(failed));
  return pid;
}

UniqueFd open_pid(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

void kill_tree(pid_t pid) {
  const std::vector<pid_t> descendants = descendants_of(pid);
  ::kill(-pid, SIGKILL);
  for (const pid_t descendant : descendants) ::kill(descendant, SIGKILL);
}

std::uint64_t tree_resident_bytes(pid_t pid) {
  std::uint64_t bytes = resident_bytes(pid);
  for (const pid_t descendant : descendants_of(pid)) bytes += resident_bytes(descendant);
  return bytes;
}

}  // namespace hone
