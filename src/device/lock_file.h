// A lock that keeps hone processes of one user apart, with one file per locked resource: a core, a
// GPU. flock() holds it, so it ends with the object or with the process, however that dies.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace hone::device {

// $XDG_RUNTIME_DIR/hone, or /tmp/hone-<uid>.
std::filesystem::path lock_folder();
// Makes the folder; an environment error if something else has its name.
Status make_lock_folder(const std::filesystem::path& folder);

class LockFile {
 public:
  // Takes the lock of `name` ("core-3") in an existing folder, waiting until `deadline` while
  // another process has it. After that, an environment error names the holder: "core 3 is leased by
  // process 17, which measures on it; wait for it, or give this run other cores". There, `thing` is
  // "core 3" and `others` "other cores".
  static Result<LockFile> acquire(const std::filesystem::path& folder, std::string_view name,
                                  const std::string& thing, std::string_view others,
                                  std::chrono::steady_clock::time_point deadline);

 private:
  explicit LockFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace hone::device
