// Leases of GPUs, and a vendor's GPUs as a kind of devices.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "device/gpu/device.h"

namespace hone::device::gpu {

// Exclusive hold on a GPU among the hone processes of one machine, of a runner that uses it. The
// lock is the GPU's own (by its id), whatever index a process sees it under. An environment error
// that names the process that holds it. `folder` is for tests; empty means lock_folder().
Result<LockFile> lease(const GpuFacts& facts, std::chrono::milliseconds wait = {},
                       const std::filesystem::path& folder = {});

// As lease(), but for a command, from before it starts anything until it ends. It is refused at
// once if another command has the GPU. A runner has a lock of its own because it may outlive its
// command by moments.
Result<LockFile> lease_for_command(const GpuFacts& facts, const std::filesystem::path& folder = {});

// GPUs of this machine, each leased and kept open from the moment it is first asked for.
// For a single thread of a process that forks no more.
class LeasedDevices {
 public:
  // `wait`: for a GPU that another process holds; a runner that was just killed lets go of its GPU
  // only when the driver has cleaned up after it. `folder`: of the leases (lease()).
  explicit LeasedDevices(const Vendor& vendor,
                         std::chrono::milliseconds wait = std::chrono::seconds(10),
                         std::filesystem::path folder = {})
      : vendor_(vendor), wait_(wait), folder_(std::move(folder)) {}

  // The driver is that of the first call's `library` (device::Address): one process has one.
  // Errors: of Vendor::open_driver, find_device, lease() and open_gpu(). One device of a GPU at a
  // time.
  Result<std::unique_ptr<Device>> open(int index, const std::string& library = {});

 private:
  Vendor vendor_;
  std::chrono::milliseconds wait_;
  std::filesystem::path folder_;
  std::shared_ptr<Driver> driver_;
  std::map<std::string, LockFile> leases_;                // by id
  std::map<std::string, std::shared_ptr<OpenGpu>> open_;  // by id
};

// The vendor's GPUs. Opening a place leases it (LeasedDevices). Errors of places(): those of
// Vendor::places; of open(): those of LeasedDevices::open.
DeviceKind kind_of(const Vendor& vendor);

}  // namespace hone::device::gpu
