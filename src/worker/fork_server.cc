#include "worker/fork_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/process_tree.h"
#include "worker/zygote.h"

namespace hone::worker {

int serve_zygote(int socket, const CompileHandlers& handlers) {
  const char* folder = std::getenv(kFolderVariable);
  if (folder == nullptr || *folder == '\0') {
    fmt::print(stderr, "{} is not set: this command is for hone's own use\n", kFolderVariable);
    return 2;
  }
  become_subreaper();
  std::fflush(nullptr);  // forked children must not print what waits here once more
  // Nobody may be reading any more, and who cleans up must not wait for that.
  (void)set_nonblocking(STDERR_FILENO, true);
  if (!Zygote(UniqueFd(socket), handlers, folder).serve()) {
    fmt::print(stderr, "the tuner said what cannot be understood\n");
    return 1;
  }
  return 0;
}

}  // namespace hone::worker
