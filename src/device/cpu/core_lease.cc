#include "device/cpu/core_lease.h"

#include <set>

namespace hone::device::cpu {

Result<CoreLease> CoreLease::acquire(std::span<const int> cores, std::chrono::milliseconds wait,
                                     const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? default_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  CoreLease lease;
  // All take the cores in the same order, so two that want the same ones never wait in a circle.
  const std::set<int> ascending(cores.begin(), cores.end());
  lease.cores_.assign(ascending.begin(), ascending.end());
  const auto deadline = std::chrono::steady_clock::now() + wait;
  for (const int core : lease.cores_) {
    HONE_ASSIGN(LockFile lock,
                LockFile::acquire(place, fmt::format("core-{}", core), fmt::format("core {}", core),
                                  "other cores", deadline));
    lease.locks_.push_back(std::move(lock));
  }
  return lease;
}

}  // namespace hone::device::cpu
