#include "base/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/fd.h"

namespace hone {
namespace {

std::optional<pid_t> parse_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return pid;
}

// Files of /proc have no size to ask for. At most 1 MiB; nothing when it may not be opened.
std::optional<std::string> read_if_allowed(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (text.size() < kMost) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

std::string read_proc(const std::string& path) {
  return read_if_allowed(path).value_or("");
}

// The entries with numeric names of a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& path) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
  std::vector<pid_t> numbers;
  if (folder == nullptr) return numbers;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const auto number = parse_pid(entry->d_name)) numbers.push_back(*number);
  return numbers;
}

// For kernels without CONFIG_PROC_CHILDREN.
std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> children;
  for (const pid_t pid : numbers_in("/proc"))
    if (parse_pid(stat_field(stat_of(std::to_string(pid)), 4)) == parent) children.push_back(pid);
  return children;
}

bool holds_assignment(std::string_view environment, std::string_view assignment) {
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.substr(at, end - at) == assignment) return true;
    at = end + 1;
  }
  return false;
}

struct EnvironmentScan {
  std::vector<pid_t> found;
  bool some_are_starting = false;  // whose environment cannot be seen yet
};

// Tells whether a process whose environment was read as empty is still starting. In the middle of
// exec it has memory (field 23), but its environment (start: field 50, end: field 51) has no place
// yet. If exec ended after the read, the environment exists now.
bool is_starting(pid_t pid) {
  const std::string stat = stat_of(std::to_string(pid));
  const std::string start = stat_field(stat, 50);
  const std::string end = stat_field(stat, 51);
  return stat_field(stat, 23) != "0" && (end == "0" || start != end);
}

EnvironmentScan scan_environments(std::string_view assignment) {
  EnvironmentScan scan;
  for (const pid_t pid : numbers_in("/proc")) {
    if (pid == ::getpid()) continue;
    const auto environment = read_if_allowed(fmt::format("/proc/{}/environ", pid));
    if (!environment) continue;  // of another user, or of the kernel
    if (holds_assignment(*environment, assignment)) scan.found.push_back(pid);
    scan.some_are_starting |= environment->empty() && is_starting(pid);
  }
  return scan;
}

}  // namespace

std::string stat_of(std::string_view pid) {
  return read_proc(fmt::format("/proc/{}/stat", pid));
}

std::string stat_field(std::string_view stat, int index) {
  // The name, field 2, is in parentheses and may hold spaces and parentheses itself.
  std::size_t at = stat.rfind(')');
  for (int field = 2; at != std::string::npos && field < index; ++field)
    at = stat.find(' ', at + 1);
  if (at == std::string::npos) return "";
  return std::string(stat.substr(at + 1, stat.find(' ', at + 1) - at - 1));
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  std::vector<pid_t> children;
  for (const pid_t thread : numbers_in(tasks)) {
    const std::string path = fmt::format("{}/{}/children", tasks, thread);
    const std::string list = read_proc(path);
    if (list.empty() && ::access("/proc/self/task", F_OK) == 0 &&
        ::access(fmt::format("/proc/self/task/{}/children", ::getpid()).c_str(), F_OK) != 0)
      return children_by_scan(pid);
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(' ', at), list.size());
      if (const auto child = parse_pid(std::string_view(list).substr(at, end - at)))
        children.push_back(*child);
      at = end + 1;
    }
  }
  return children;
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found = children_of(pid);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> children = children_of(found[i]);
    found.insert(found.end(), children.begin(), children.end());
  }
  return found;
}

std::uint64_t resident_bytes(pid_t pid) {
  const std::string statm = read_proc(fmt::format("/proc/{}/statm", pid));
  const std::size_t space = statm.find(' ');
  if (space == std::string::npos) return 0;
  const std::uint64_t pages = std::strtoull(statm.c_str() + space, nullptr, 10);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

pid_t process_group_of(pid_t pid) {
  return ::getpgid(pid);
}

std::vector<pid_t> processes_started_with(std::string_view assignment) {
  return scan_environments(assignment).found;
}

void kill_processes_started_with(std::string_view assignment) {
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const EnvironmentScan scan = scan_environments(assignment);
    if (scan.found.empty() && !scan.some_are_starting) return;
    for (const pid_t pid : scan.found) ::kill(pid, SIGKILL);
    ::usleep(5000);  // what is dying still shows its environment
  }
}

void become_subreaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace hone
