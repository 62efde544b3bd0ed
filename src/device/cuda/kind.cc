#include "device/cuda/kind.h"

#include <nlohmann/json.hpp>

namespace hone::device::cuda {
namespace {

Result<LockFile> take(const GpuFacts& facts, const std::string& name,
                      std::chrono::milliseconds wait, const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? lock_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  return LockFile::acquire(place, name,
                           fmt::format("cuda:{} ({}, {})", facts.index, facts.name, facts.uuid),
                           "another GPU", std::chrono::steady_clock::now() + wait);
}

}  // namespace

Result<LockFile> lease(const GpuFacts& facts, std::chrono::milliseconds wait,
                       const std::filesystem::path& folder) {
  return take(facts, facts.uuid, wait, folder);
}

Result<LockFile> lease_for_command(const GpuFacts& facts, const std::filesystem::path& folder) {
  return take(facts, facts.uuid + "-command", {}, folder);
}

Result<std::unique_ptr<Device>> LeasedDevices::open(int index) {
  if (!driver_) {
    HONE_ASSIGN(driver_, Driver::open());
  }
  HONE_ASSIGN(const auto devices, list_devices(*driver_));
  HONE_ASSIGN(const GpuFacts facts, find_device(devices, index));
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

namespace {

// Rough throughput of kernels on an H200, per second: f16 operations, and bytes from its memory.
constexpr double kRoughFlops = 2e14, kRoughBytes = 2e12;
// Elementwise kernels of 0.2 MB in BERT took 2.7 to 3.1 us each on an H200 (ncu).
constexpr double kLaunchSeconds = 3e-6;

Result<std::vector<Place>> places(const std::vector<int>& cores) {
  HONE_ASSIGN(const auto driver, Driver::open());
  HONE_ASSIGN(const std::vector<GpuFacts> devices, list_devices(*driver));
  std::vector<Place> places;
  for (const GpuFacts& facts : devices) places.push_back(place_of(facts, cores));
  return places;
}

}  // namespace

Place place_of(const GpuFacts& facts, std::vector<int> cores) {
  Place place;
  place.address = {std::string(kKind), facts.index, std::move(cores)};
  place.traits = {.own_memory = true,
                  .compiling_disturbs = false,
                  .one_batch_tells = true,
                  .assembles_code = true,
                  .runs_on_host = false,
                  .matrix_units = true};
  const std::string driver =
      fmt::format("CUDA {}.{}", facts.driver_version / 1000, facts.driver_version % 1000 / 10);
  place.facts = {
      .name = facts.name,
      .driver = driver,
      .target = facts.arch(),
      .description = fmt::format(
          "{}: {}, {} multiprocessors, {:.0f} GiB, L2 {:.0f} MiB, driver of {}", facts.name,
          facts.arch(), facts.multiprocessors, static_cast<double>(facts.memory_bytes) / (1 << 30),
          static_cast<double>(facts.l2_bytes) / (1 << 20), driver),
      .id = facts.uuid,
      .identity = nlohmann::json{{"identity", device_identity(facts)}}.dump(),
      .details = nlohmann::json(facts).dump(),
      .last_level_cache_bytes = facts.l2_bytes,
      .memory_bytes = facts.memory_bytes,
      .workgroup_memory_bytes = facts.shared_bytes,
      .units = facts.multiprocessors,
      .rough_flops = kRoughFlops,
      .rough_bytes = kRoughBytes,
      .launch_seconds = kLaunchSeconds};
  return place;
}

DeviceKind kind() {
  const auto devices = std::make_shared<LeasedDevices>();
  return {.name = std::string(kKind),
          .runs = [](const std::string& target) { return target.starts_with("sm_"); },
          .places = places,
          .open = [devices](const device::Address& address) -> Result<std::unique_ptr<Device>> {
            return devices->open(address.index.value_or(0));
          },
          .lease = [](const Place& place) -> Result<std::vector<LockFile>> {
            GpuFacts facts;
            facts.index = place.address.index.value_or(0);
            facts.name = place.facts.name;
            facts.uuid = place.facts.id;
            HONE_ASSIGN(LockFile lock, lease_for_command(facts));
            std::vector<LockFile> locks;
            locks.push_back(std::move(lock));
            return locks;
          }};
}

}  // namespace hone::device::cuda
