#include "worker/exec_worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/janitor.h"
#include "worker/session_folder.h"

namespace hone::worker {

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
