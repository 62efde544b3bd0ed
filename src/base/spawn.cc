#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process_tree.h"

namespace hone {
namespace {

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
