#include "device/cuda/leased_devices.h"

namespace hone::device::cuda {

Result<std::unique_ptr<Device>> LeasedDevices::open(int index) {
  if (!driver_) {
    HONE_ASSIGN(driver_, Driver::open());
  }
  HONE_ASSIGN(const auto devices, list_devices(*driver_));
  HONE_ASSIGN(const Facts facts, find_device(devices, index));
  if (leases_.find(facts.uuid) == leases_.end()) {
    HONE_ASSIGN(LockFile lock, lease(facts, wait_, folder_));
    leases_.emplace(facts.uuid, std::move(lock));
  }
  std::shared_ptr<OpenGpu>& gpu = open_[facts.uuid];
  if (!gpu) {
    HONE_ASSIGN(gpu, open_gpu(driver_, facts));
  }
  return make_device(gpu);
}

}  // namespace hone::device::cuda
