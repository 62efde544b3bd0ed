// GPUs of this machine, each leased and kept open from the moment it is first asked for.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>

#include "base/result.h"
#include "device/cuda/device.h"
#include "device/cuda/lease.h"

namespace hone::device::cuda {

// For a single thread of a process that forks no more.
class LeasedDevices {
 public:
  // `wait`: for a GPU that another process holds; a runner that was just killed lets go of its GPU
  // only when the driver has cleaned up after it. `folder`: of the leases (lease.h).
  explicit LeasedDevices(std::chrono::milliseconds wait = std::chrono::seconds(10),
                         std::filesystem::path folder = {})
      : wait_(wait), folder_(std::move(folder)) {}

  // Errors: of Driver::open, find_device, lease() and open_gpu(). One device of a GPU at a time.
  Result<std::unique_ptr<Device>> open(int index);

 private:
  std::chrono::milliseconds wait_;
  std::filesystem::path folder_;
  std::shared_ptr<Driver> driver_;
  std::map<std::string, LockFile> leases_;                // by UUID
  std::map<std::string, std::shared_ptr<OpenGpu>> open_;  // by UUID
};

}  // namespace hone::device::cuda
