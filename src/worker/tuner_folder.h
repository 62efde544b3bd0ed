// The folder of the tuner's own temporary files (inputs and modules of whole programs), which must
// not stay behind when it is killed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "worker/session_folder.h"

namespace hone::worker {

class TunerFolder {
 public:
  // Makes TMPDIR of this process a new folder in what it was before. It is removed when this goes,
  // or by a janitor (janitor.h) when the process is gone; the janitor also ends the programs that
  // the process has started itself. To be called while the process has one thread. An environment
  // error when the folder cannot be made.
  static Result<TunerFolder> claim();
  TunerFolder(TunerFolder&& other) noexcept;
  TunerFolder& operator=(TunerFolder&&) = delete;
  ~TunerFolder();

  // What TMPDIR was: where workers have their folders, since each of them has its own janitor.
  const std::filesystem::path& parent() const { return parent_; }

 private:
  TunerFolder(std::filesystem::path parent, SessionFolder folder)
      : parent_(std::move(parent)), folder_(std::move(folder)) {}
  std::filesystem::path parent_;
  std::optional<SessionFolder> folder_;  // none once moved from
};

}  // namespace hone::worker
