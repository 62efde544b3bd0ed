// The folder that holds a worker session's temporary files. The tuner gives it a name and the
// worker makes it: whichever of the two dies, the other one is there to remove it. One whose makers
// all died at once is removed when the next worker starts.
#pragma once

#include <filesystem>

#include "base/fd.h"
#include "base/result.h"

namespace hone::worker {

// A path in `parent` (empty: the system's temporary folder) that does not exist yet.
std::filesystem::path new_session_folder(const std::filesystem::path& parent);

// Removes session folders of this user in `parent` that no process has claimed any more, and kills
// what still runs there.
void remove_abandoned_folders(const std::filesystem::path& parent);

// Removes `folder` with everything in it, again while something is still being put there (a process
// that was killed may finish one more system call), for at most a second.
void remove_folder(const std::filesystem::path& folder);

// The worker's own hold on its folder.
class SessionFolder {
 public:
  // Makes the folder that HONE_WORKER_FOLDER names and makes it TMPDIR. An input error when it
  // names no session folder: a worker removes this folder when it leaves, and must not be led to
  // remove another.
  static Result<SessionFolder> claim();

  const std::filesystem::path& path() const { return path_; }
  // The program that replaces this process (exec) holds the folder too.
  void keep_over_exec() const;

 private:
  std::filesystem::path path_;
  UniqueFd lock_;  // held by this process and those forked from it
};

}  // namespace hone::worker
