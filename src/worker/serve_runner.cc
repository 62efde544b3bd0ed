#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/process_tree.h"
#include "worker/fork_server.h"
#include "worker/job_process.h"
#include "worker/runner_process.h"

namespace hone::worker {
namespace {

// Time for the serving loop to see by itself that the tuner is gone.
constexpr int kGraceMilliseconds = 500;

void remove_folder() {
  std::error_code code;
  const char* folder = std::getenv(kFolderVariable);
  if (folder != nullptr && *folder != '\0') std::filesystem::remove_all(folder, code);
}

// Ends a process whose handler does not return.
[[noreturn]] void end_at_once() {
  remove_folder();
  for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
  ::_exit(1);
}

// Waits until the tuner closes `socket` and `done` does not follow soon.
void watch(int socket, int done) {
  pollfd entries[] = {{socket, POLLRDHUP, 0}, {done, POLLIN, 0}};
  while (::poll(entries, 2, -1) < 0) {
  }
  if (entries[1].revents != 0) return;
  if (::poll(&entries[1], 1, kGraceMilliseconds) <= 0) end_at_once();
}

bool answer_all(int socket, const RunnerHandler& handler) {
  FrameDecoder decoder;
  while (true) {
    const auto message = read_message(socket, decoder);
    if (!message) {
      std::fprintf(stderr, "%s\n", message.error().message.c_str());
      return false;
    }
    if (!*message) return true;
    answer(socket, guarded(handler, **message, provider::FailureKind::kKernelCrash));
  }
}

}  // namespace

int serve_runner(int socket, const RunnerHandler& handler) {
  const UniqueFd tuner(socket);
  const UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  become_subreaper();
  std::thread watcher(watch, tuner.get(), done.get());
  const bool understood = write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}}) &&
                          answer_all(tuner.get(), handler);
  const std::uint64_t one = 1;
  if (::write(done.get(), &one, sizeof one) < 0) end_at_once();
  watcher.join();
  for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
  remove_folder();
  return understood ? 0 : 1;
}

}  // namespace hone::worker
