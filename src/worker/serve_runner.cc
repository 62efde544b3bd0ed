#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "worker/janitor.h"
#include "worker/job_process.h"
#include "worker/runner_process.h"

namespace hone::worker {
namespace {

bool answer_all(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  FrameDecoder decoder;
  while (true) {
    const auto message = read_message(socket, decoder);
    if (!message) {
      std::fprintf(stderr, "%s\n", message.error().message.c_str());
      return false;
    }
    if (!*message) return true;
    if ((*message)->kind == kPing) {
      answer(socket, Outcome(Message{std::string(kPing), {}, {}}));
      continue;
    }
    const Outcome outcome = guarded(handler, **message, provider::FailureKind::kKernelCrash);
    if (!outcome && is_lost && is_lost()) {
      std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
      return false;
    }
    answer(socket, outcome);
  }
}

}  // namespace

int serve_runner(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  const auto folder = SessionFolder::claim();
  if (!folder) {
    std::fprintf(stderr, "%s\n", folder.error().message.c_str());
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);  // of words that no tuner reads any more
  const UniqueFd tuner(socket);
  const Status watched = start_janitor(tuner.get(), *folder);
  if (!watched) {
    std::fprintf(stderr, "%s\n", watched.error().message.c_str());
    return 3;
  }
  const bool understood = write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}}) &&
                          answer_all(tuner.get(), handler, is_lost);
  return understood ? 0 : 1;
}

}  // namespace hone::worker
