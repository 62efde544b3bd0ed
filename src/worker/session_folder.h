// The folder of a worker session's temporary files. The tuner names it and the worker makes it, so
// that the survivor of the two can remove it. A folder whose makers all died at once is removed
// when the next worker starts.
#pragma once

#include <filesystem>

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

}  // namespace hone::worker
