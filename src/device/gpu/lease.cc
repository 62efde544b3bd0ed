#include "device/gpu/lease.h"

#include <utility>
#include <vector>

namespace hone::device::gpu {
namespace {

Result<LockFile> take(const GpuFacts& facts, const std::string& name,
                      std::chrono::milliseconds wait, const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? lock_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  return LockFile::acquire(
      place, name, fmt::format("{}:{} ({}, {})", facts.kind, facts.index, facts.name, facts.id),
      "another GPU", std::chrono::steady_clock::now() + wait);
}

}  // namespace

Result<LockFile> lease(const GpuFacts& facts, std::chrono::milliseconds wait,
                       const std::filesystem::path& folder) {
  return take(facts, facts.id, wait, folder);
}

Result<LockFile> lease_for_command(const GpuFacts& facts, const std::filesystem::path& folder) {
  return take(facts, facts.id + "-command", {}, folder);
}

Result<std::unique_ptr<Device>> LeasedDevices::open(int index, const std::string& library) {
  if (!driver_) {
    HONE_ASSIGN(driver_, vendor_.open_driver(library));
  }
  HONE_ASSIGN(const auto devices, vendor_.list(*driver_));
  HONE_ASSIGN(const GpuFacts facts, find_device(devices, vendor_.kind, index));
  if (leases_.find(facts.id) == leases_.end()) {
    HONE_ASSIGN(LockFile lock, lease(facts, wait_, folder_));
    leases_.emplace(facts.id, std::move(lock));
  }
  std::shared_ptr<OpenGpu>& gpu = open_[facts.id];
  if (!gpu) {
    HONE_ASSIGN(gpu, open_gpu(vendor_, driver_, facts));
  }
  return make_device(gpu);
}

DeviceKind kind_of(const Vendor& vendor) {
  const auto devices = std::make_shared<LeasedDevices>(vendor);
  return {.name = std::string(vendor.kind),
          .runs = vendor.runs,
          .places = vendor.places,
          .open = [devices](const Address& address) -> Result<std::unique_ptr<Device>> {
            return devices->open(address.index.value_or(0), address.library);
          },
          .lease = [](const Place& place) -> Result<std::vector<LockFile>> {
            GpuFacts facts;
            facts.kind = place.address.kind;
            facts.index = place.address.index.value_or(0);
            facts.name = place.facts.name;
            facts.id = place.facts.id;
            HONE_ASSIGN(LockFile lock, lease_for_command(facts));
            std::vector<LockFile> locks;
            locks.push_back(std::move(lock));
            return locks;
          }};
}

}  // namespace hone::device::gpu
