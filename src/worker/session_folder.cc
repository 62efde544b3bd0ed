#include "worker/session_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/process_tree.h"
#include "worker/fork_server.h"

namespace hone::worker {
namespace {

constexpr std::string_view kPrefix = "hone-worker-";

bool is_session_folder(const std::filesystem::path& path) {
  return path.is_absolute() && path.filename().string().starts_with(kPrefix);
}

// The locked folder; empty when another process holds it or it is not there any more.
UniqueFd lock(const std::filesystem::path& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat opened, named;
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::fstat(folder.get(), &opened) != 0 || ::stat(path.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino || opened.st_uid != ::geteuid())
    return UniqueFd();
  return folder;
}

}  // namespace

std::filesystem::path new_session_folder(const std::filesystem::path& parent) {
  std::error_code code;
  const std::filesystem::path base = std::filesystem::absolute(
      parent.empty() ? std::filesystem::temp_directory_path(code) : parent, code);
  std::random_device random;
  return base / fmt::format("{}{:08x}{:08x}", kPrefix, random(), random());
}

void remove_abandoned_folders(const std::filesystem::path& parent) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(parent, code)) {
    if (!is_session_folder(entry.path())) continue;
    const UniqueFd abandoned = lock(entry.path());
    if (!abandoned) continue;
    kill_processes_started_with(fmt::format("{}={}", kFolderVariable, entry.path().string()));
    std::filesystem::remove_all(entry.path(), code);
  }
}

Result<SessionFolder> SessionFolder::claim() {
  const char* value = std::getenv(kFolderVariable);
  SessionFolder folder;
  folder.path_ = value == nullptr ? "" : value;
  if (!is_session_folder(folder.path_))
    return input_error("{} names no folder of a worker session: this command is for hone's own use",
                       kFolderVariable);
  // Between the two steps another worker's start may take the folder for an abandoned one.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts && !folder.lock_; ++attempt) {
    if (::mkdir(folder.path_.c_str(), 0700) != 0 && errno != EEXIST)
      return environment_error("cannot make the temporary folder '{}': {}", folder.path_.string(),
                               std::strerror(errno));
    folder.lock_ = lock(folder.path_);
    if (!folder.lock_) ::usleep(1000);
  }
  if (!folder.lock_)
    return environment_error("cannot claim the temporary folder '{}'", folder.path_.string());
  ::setenv("TMPDIR", folder.path_.c_str(), 1);
  return folder;
}

void SessionFolder::remove() const {
  std::error_code code;
  std::filesystem::remove_all(path_, code);
}

}  // namespace hone::worker
