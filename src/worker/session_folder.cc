#include "worker/session_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/process_tree.h"
#include "worker/fork_server.h"
#include "worker/janitor.h"

namespace hone::worker {
namespace {

constexpr std::string_view kPrefix = "hone-worker-";
constexpr std::string_view kUnfinished = ".new";

bool is_session_folder(const std::filesystem::path& path) {
  return path.is_absolute() && path.filename().string().starts_with(kPrefix) &&
         !path.has_extension();
}

// Returns the locked folder; empty if another process holds it or it is gone.
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
  return base / fmt::format("{}{}", kPrefix, system_random_name());
}

void remove_abandoned_folders(const std::filesystem::path& parent) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(parent, code)) {
    if (!is_session_folder(entry.path())) continue;
    const UniqueFd abandoned = lock(entry.path());
    if (!abandoned) continue;
    kill_processes_started_with(fmt::format("{}={}", kFolderVariable, entry.path().string()));
    remove_folder(entry.path());
  }
}

Result<SessionFolder> SessionFolder::claim() {
  const char* value = std::getenv(kFolderVariable);
  SessionFolder folder;
  folder.path_ = value == nullptr ? "" : value;
  if (!is_session_folder(folder.path_))
    return input_error("{} names no folder of a worker session: this command is for hone's own use",
                       kFolderVariable);
  // Names the folder only once it is locked: before that, another worker's start would take it for
  // an abandoned one.
  const std::string unfinished = folder.path_.string() + std::string(kUnfinished);
  if (::mkdir(unfinished.c_str(), 0700) == 0) folder.lock_ = lock(unfinished);
  if (!folder.lock_ || ::rename(unfinished.c_str(), folder.path_.c_str()) != 0)
    return environment_error("cannot make the temporary folder '{}': {}", folder.path_.string(),
                             std::strerror(errno));
  ::setenv("TMPDIR", folder.path_.c_str(), 1);
  return folder;
}

void SessionFolder::keep_over_exec() const {
  ::fcntl(lock_.get(), F_SETFD, 0);
}

void remove_folder(const std::filesystem::path& folder) {
  // A folder whose maker was killed within SessionFolder::claim.
  const std::filesystem::path unfinished = folder.string() + std::string(kUnfinished);
  std::error_code code;
  std::filesystem::remove(unfinished, code);
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds && std::filesystem::exists(folder, code); ++round) {
    std::filesystem::remove_all(folder, code);
    if (code) ::usleep(5000);
  }
}

Result<TunerFolder> TunerFolder::claim() {
  std::error_code code;
  std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code)
    return environment_error("there is no folder for temporary files (TMPDIR): {}", code.message());
  remove_abandoned_folders(parent);
  ::setenv(kFolderVariable, new_session_folder(parent).c_str(), 1);
  HONE_ASSIGN(SessionFolder folder, SessionFolder::claim());
  constexpr int kNoTuner = -1;  // this is the tuner
  HONE_TRY(start_janitor(kNoTuner, folder));
  return TunerFolder(std::move(parent), std::move(folder));
}

TunerFolder::TunerFolder(TunerFolder&& other) noexcept
    : parent_(std::move(other.parent_)), folder_(std::exchange(other.folder_, std::nullopt)) {}

TunerFolder::~TunerFolder() {
  if (!folder_) return;
  ::setenv("TMPDIR", parent_.c_str(), 1);
  ::unsetenv(kFolderVariable);
  remove_folder(folder_->path());
}

}  // namespace hone::worker
