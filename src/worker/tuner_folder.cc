#include "worker/tuner_folder.h"

#include <cstdlib>
#include <utility>

#include "worker/fork_server.h"
#include "worker/janitor.h"

namespace hone::worker {

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
