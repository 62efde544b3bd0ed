// An exclusive hold on cores among the hone processes of one machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <vector>

#include "base/result.h"

namespace hone::device::cpu {

// Held through flock() on one file per core, so it ends with the object or with the process,
// however that dies. It binds hone processes of one user only: others are seen as background load
// (machine_state.h).
class CoreLease {
 public:
  // Takes all of `cores` or none, waiting up to `wait` for those that others hold. An environment
  // error that names the core and the process that holds it when they are not to be had. `folder`
  // is for tests; empty means default_folder().
  static Result<CoreLease> acquire(std::span<const int> cores, std::chrono::milliseconds wait = {},
                                   const std::filesystem::path& folder = {});
  ~CoreLease();
  CoreLease(CoreLease&& other) noexcept;
  CoreLease& operator=(CoreLease&& other) noexcept;

  const std::vector<int>& cores() const { return cores_; }  // ascending

  // $XDG_RUNTIME_DIR/hone, or /tmp/hone-<uid>.
  static std::filesystem::path default_folder();

 private:
  CoreLease() = default;
  void release();
  std::vector<int> cores_;
  std::vector<int> files_;
};

}  // namespace hone::device::cpu
