// An exclusive lease of cores among the hone processes of one machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/lock_file.h"

namespace hone::device::cpu {

// It binds hone processes of one user only: others are seen as background load (machine_state.h).
class CoreLease {
 public:
  // Takes all of `cores` or none, waiting up to `wait` for cores that other processes hold. If they
  // stay held, an environment error names the core and the process that holds it. `folder` is for
  // tests; empty means default_folder().
  static Result<CoreLease> acquire(std::span<const int> cores, std::chrono::milliseconds wait = {},
                                   const std::filesystem::path& folder = {});

  const std::vector<int>& cores() const { return cores_; }  // ascending
  // Hands over the lease, one lock for each core.
  std::vector<LockFile> locks() && { return std::move(locks_); }

  static std::filesystem::path default_folder() { return lock_folder(); }

 private:
  CoreLease() = default;
  std::vector<int> cores_;
  std::vector<LockFile> locks_;
};

}  // namespace hone::device::cpu
