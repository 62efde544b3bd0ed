#include "worker/fork_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/process_tree.h"
#include "worker/janitor.h"
#include "worker/session_folder.h"
#include "worker/zygote.h"

namespace hone::worker {

int serve_zygote(int socket, const CompileHandlers& handlers) {
  const auto folder = SessionFolder::claim();
  if (!folder) {
    fmt::print(stderr, "{}\n", folder.error().message);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);  // of words that no tuner reads any more
  const Status watched = start_janitor(socket, *folder);
  if (!watched) {
    fmt::print(stderr, "{}\n", watched.error().message);
    return 3;
  }
  become_subreaper();
  std::fflush(nullptr);  // forked children must not print what waits here once more
  // Nobody may be reading any more, and who cleans up must not wait for that.
  (void)set_nonblocking(STDERR_FILENO, true);
  if (!Zygote(UniqueFd(socket), handlers, folder->path()).serve()) {
    fmt::print(stderr, "the tuner said what cannot be understood\n");
    return 1;
  }
  return 0;
}

}  // namespace hone::worker
