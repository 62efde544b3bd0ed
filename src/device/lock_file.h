// A lock that keeps hone processes of one user apart, on one file per thing that is held: a core, a
// GPU. It is held through flock(), so it ends with the object or with the process, however that
// dies.
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
// Makes it; an environment error when something else is in its place.
Status make_lock_folder(const std::filesystem::path& folder);

class LockFile {
 public:
  // Takes the lock of `name` ("core-3") in a folder that is there, waiting until `deadline` where
  // another process has it. An environment error that names the holder when it is not to be had:
  // "core 3 is leased by process 17, which measures on it; wait for it, or give this run other
  // cores", where `thing` is "core 3" and `others` "other cores".
  static Result<LockFile> acquire(const std::filesystem::path& folder, std::string_view name,
                                  const std::string& thing, std::string_view others,
                                  std::chrono::steady_clock::time_point deadline);

 private:
  explicit LockFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace hone::device
