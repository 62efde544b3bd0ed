// Folders of temporary files that are removed even if their maker is killed: a worker session's,
// and the tuner's own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace hone::worker {

// Returns a path in `parent` (empty: the system's temporary folder) that does not exist yet.
std::filesystem::path new_session_folder(const std::filesystem::path& parent);

// Removes session folders of this user in `parent` that no process claims any more, and kills the
// processes that still run there.
void remove_abandoned_folders(const std::filesystem::path& parent);

// Removes `folder` with its content. Retries for at most a second while files are still added: a
// killed process may finish one more system call.
void remove_folder(const std::filesystem::path& folder);

// The worker's lock on its folder.
class SessionFolder {
 public:
  // Creates the folder that HONE_WORKER_FOLDER names and sets TMPDIR to it. Returns an input error
  // if the name is that of no session folder. A worker removes this folder when it leaves, and must
  // not be led to remove another.
  static Result<SessionFolder> claim();

  const std::filesystem::path& path() const { return path_; }
  // Keeps the lock in the program that replaces this process (exec).
  void keep_over_exec() const;

 private:
  std::filesystem::path path_;
  UniqueFd lock_;  // held by this process and those forked from it
};

class TunerFolder {
 public:
  // Makes TMPDIR of this process a new folder within the previous one. The destructor removes it,
  // or a janitor (janitor.h) when the process is gone. The janitor also ends the programs that the
  // process has started itself. Call this while the process has one thread. Returns an environment
  // error if the folder cannot be made.
  static Result<TunerFolder> claim();
  TunerFolder(TunerFolder&& other) noexcept;
  TunerFolder& operator=(TunerFolder&&) = delete;
  ~TunerFolder();

  // The previous TMPDIR. Worker folders go there, since each worker has its own janitor.
  const std::filesystem::path& parent() const { return parent_; }

 private:
  TunerFolder(std::filesystem::path parent, SessionFolder folder)
      : parent_(std::move(parent)), folder_(std::move(folder)) {}
  std::filesystem::path parent_;
  std::optional<SessionFolder> folder_;  // none once moved from
};

}  // namespace hone::worker
