#include "device/cuda/lease.h"

namespace hone::device::cuda {

Result<LockFile> lease(const Facts& facts, std::chrono::milliseconds wait,
                       const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? lock_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  return LockFile::acquire(place, facts.uuid,
                           fmt::format("cuda:{} ({}, {})", facts.index, facts.name, facts.uuid),
                           "another GPU", std::chrono::steady_clock::now() + wait);
}

}  // namespace hone::device::cuda
