#include "device/cuda/lease.h"

namespace hone::device::cuda {
namespace {

Result<LockFile> take(const Facts& facts, const std::string& name, std::chrono::milliseconds wait,
                      const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? lock_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  return LockFile::acquire(place, name,
                           fmt::format("cuda:{} ({}, {})", facts.index, facts.name, facts.uuid),
                           "another GPU", std::chrono::steady_clock::now() + wait);
}

}  // namespace

Result<LockFile> lease(const Facts& facts, std::chrono::milliseconds wait,
                       const std::filesystem::path& folder) {
  return take(facts, facts.uuid, wait, folder);
}

Result<LockFile> lease_for_command(const Facts& facts, const std::filesystem::path& folder) {
  return take(facts, facts.uuid + "-command", {}, folder);
}

}  // namespace hone::device::cuda
