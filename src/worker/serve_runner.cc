#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <thread>

#include "base/process_tree.h"
#include "worker/job_process.h"
#include "worker/runner_process.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

// Time for the serving loop to see by itself that the tuner is gone.
constexpr int kGraceMilliseconds = 500;

// Ends a process whose handler does not return.
[[noreturn]] void end_at_once(const SessionFolder& folder) {
  folder.remove();
  for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
  ::_exit(1);
}

// Waits until the tuner closes `socket` and `done` does not follow soon.
void watch(int socket, int done, const SessionFolder& folder) {
  pollfd entries[] = {{socket, POLLRDHUP, 0}, {done, POLLIN, 0}};
  while (::poll(entries, 2, -1) < 0) {
  }
  if (entries[1].revents != 0) return;
  if (::poll(&entries[1], 1, kGraceMilliseconds) <= 0) end_at_once(folder);
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
  const auto folder = SessionFolder::claim();
  if (!folder) {
    std::fprintf(stderr, "%s\n", folder.error().message.c_str());
    return 2;
  }
  const UniqueFd tuner(socket);
  const UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  become_subreaper();
  std::thread watcher(watch, tuner.get(), done.get(), std::cref(*folder));
  const bool understood = write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}}) &&
                          answer_all(tuner.get(), handler);
  const std::uint64_t one = 1;
  if (::write(done.get(), &one, sizeof one) < 0) end_at_once(*folder);
  watcher.join();
  for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
  folder->remove();
  return understood ? 0 : 1;
}

}  // namespace hone::worker
