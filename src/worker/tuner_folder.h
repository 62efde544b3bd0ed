// The folder of the tuner's own temporary files (inputs and modules of whole programs). It is
// removed even if the tuner is killed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "worker/session_folder.h"

namespace hone::worker {

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
