#include "worker/janitor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/process.h"
#include "base/process_tree.h"
#include "base/text.h"
#include "worker/fork_server.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

// Time that a worker gets to notice that the tuner is gone.
constexpr int kGraceMilliseconds = 500;
// Interval between two looks at the worker, before Linux 5.3.
constexpr int kLookMilliseconds = 100;

void kill_with_group(pid_t worker) {
  ::kill(process_group_of(worker) == worker ? -worker : worker, SIGKILL);
}

// The worker's sockets, locks and files must not stay open for as long as its janitor lives.
void close_all_but(int socket, int exit) {
  std::vector<int> open;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", code))
    open.push_back(std::atoi(entry.path().filename().c_str()));
  for (const int fd : open)
    if (fd > STDERR_FILENO && fd != socket && fd != exit) ::close(fd);
}

// The janitor has its own process group, since the worker's is going to be killed. It has its own
// stdio, since the worker's pipes must close when the worker ends. It has no mark: see
// processes_started_with, which reads the memory changed here.
void settle(int socket, int exit) {
  ::setpgid(0, 0);
  close_all_but(socket, exit);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::close(null);
  if (char* mark = std::getenv(kFolderVariable)) *mark = '\0';
}

bool is_alive(pid_t worker, const UniqueFd& exit) {
  return exit ? !is_readable(exit.get()) : ::kill(worker, 0) == 0;
}

// A janitor may be killed too, so there are two. Returns in both, with what becomes readable when
// the other is gone; nothing before Linux 5.3 or when there is no process to be had: then there is
// one.
UniqueFd fork_partner() {
  UniqueFd self = open_pid(::getpid());
  if (!self) return {};
  const pid_t partner = ::fork();
  if (partner < 0) return {};
  if (partner > 0) return open_pid(partner);
  ::setpgid(0, 0);
  return self;
}

UniqueFd replace_partner() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return fork_partner();
}

void wait_for_end(pid_t worker, const UniqueFd& exit, int socket) {
  bool tuner_left = false;
  UniqueFd partner = fork_partner();
  while (is_alive(worker, exit)) {
    pollfd entries[] = {{tuner_left ? -1 : socket, POLLRDHUP, 0},
                        {exit.get(), POLLIN, 0},
                        {partner.get(), POLLIN, 0}};
    const int patience = tuner_left ? kGraceMilliseconds : exit ? -1 : kLookMilliseconds;
    const int events = ::poll(entries, 3, patience);
    const bool partner_left = entries[2].revents != 0 && is_alive(worker, exit);
    if (partner_left) partner = replace_partner();
    if (tuner_left && events == 0) kill_with_group(worker);
    tuner_left = tuner_left || entries[0].revents != 0;
  }
}

}  // namespace

Status start_janitor(int socket, const SessionFolder& folder) {
  const pid_t worker = ::getpid();
  const UniqueFd exit = open_pid(worker);
  const pid_t middle = ::fork();
  if (middle < 0) return environment_error("cannot fork: {}", std::strerror(errno));
  if (middle > 0) {
    while (::waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {};
  }
  if (::fork() != 0) ::_exit(0);
  settle(socket, exit.get());
  wait_for_end(worker, exit, socket);
  kill_processes_started_with(fmt::format("{}={}", kFolderVariable, folder.path().string()));
  remove_folder(folder.path());
  ::_exit(0);
}

tl::expected<SessionFolder, int> begin_worker(int socket) {
  constexpr int kNoFolder = 2, kNoJanitor = 3;
  auto folder = SessionFolder::claim();
  if (!folder) {
    say("{}\n", folder.error().message);
    return tl::unexpected(kNoFolder);
  }
  ::signal(SIGPIPE, SIG_IGN);
  if (const Status watched = start_janitor(socket, *folder); !watched) {
    say("{}\n", watched.error().message);
    return tl::unexpected(kNoJanitor);
  }
  return *std::move(folder);
}

Error exec_worker(int socket, const std::vector<std::string>& command) {
  auto folder = SessionFolder::claim();
  if (!folder) return folder.error();
  if (const Status watched = start_janitor(socket, *folder); !watched) return watched.error();
  folder->keep_over_exec();
  ::fcntl(socket, F_SETFD, 0);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return {ErrorKind::kEnvironment,
          fmt::format("cannot start '{}': {}", command.front(), std::strerror(errno))};
}

}  // namespace hone::worker
