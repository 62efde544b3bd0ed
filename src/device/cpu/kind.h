// The host's cores as a kind of devices: leased, and described by where they lie.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace hone::device::cpu {

// The CPU as a Device: kernels are called directly from hone's own pinned threads. A device of one
// thread per core in `cores`; the calling thread is the first of them and stays pinned while the
// device lives. All calls to it come from that thread. Errors: as ThreadPool::create. Taking a
// CoreLease first is the caller's business.
Result<std::unique_ptr<Device>> open_device(std::span<const int> cores);

// An exclusive lease of cores among the hone processes of one machine. It binds hone processes of
// one user only: others are seen as background load (machine_state.h).
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

// Describes what distinguishes a set of cores from another of the same size: {"cores": threads of
// distinct cores, "caches": last-level caches, "packages": sockets, "capacities": relative speeds,
// ascending}. Facts that `sysfs` does not state are omitted. Equal placements on one machine count
// as equal devices: a kernel runs on core 1 as on core 0.
// (Documentation/admin-guide/cputopology.rst and Documentation/ABI/testing/sysfs-devices-system-cpu
// of Linux.)
nlohmann::json placement(std::span<const int> cores,
                         const std::filesystem::path& sysfs = "/sys/devices/system/cpu");

// Pins the calling thread, and every thread and process it starts from now on, to `cores`. An
// environment error if the system refuses.
Status stay_on(std::span<const int> cores);

// Kind whose only place is the set of requested cores. For opening and leasing, see open_device()
// and CoreLease. An environment error if /proc/cpuinfo cannot be read.
DeviceKind kind();

}  // namespace hone::device::cpu
