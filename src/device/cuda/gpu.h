// GPUs of this machine: facts that the driver states, one in use by this process, and its clocks,
// power and heat.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cuda/driver.h"
#include "device/machine_state.h"

namespace hone::device::cuda {

// Device::kind() of these devices.
inline constexpr std::string_view kKind = "cuda";

struct GpuFacts {
  int index = 0;       // the driver's, as in "cuda:0"
  std::string name;    // "NVIDIA H200"
  std::string uuid;    // "GPU-1b4d..."
  std::string pci;     // "0000:1b:00.0"
  int capability = 0;  // 90: compute capability 9.0
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes = 0;  // dynamic shared memory one block may have, opted in
  int megahertz = 0;              // highest SM clock
  int driver_version = 0;         // 13000

  std::string arch() const { return fmt::format("sm_{}", capability); }
  bool operator==(const GpuFacts&) const = default;
};

void to_json(nlohmann::json& json, const GpuFacts& facts);

// All GPUs that the process sees (CUDA_VISIBLE_DEVICES counts).
Result<std::vector<GpuFacts>> list_devices(Driver& driver);

// An input error that lists what there is: "device cuda:7 is not there: this machine has cuda:0
// (NVIDIA H200)".
Result<GpuFacts> find_device(const std::vector<GpuFacts>& devices, int index);

// Device identity: facts that two comparable measurements share. It tells a store from another
// machine with the same GPU from a store of another GPU.
nlohmann::json device_identity(const GpuFacts& facts);

// A GPU in use by this process: driver and context. Runs all work in the order of the requests (on
// the default stream). Used by one thread, which opened it.
class GpuContext {
 public:
  static Result<std::shared_ptr<GpuContext>> open(std::shared_ptr<Driver> driver,
                                                  const GpuFacts& facts);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  Driver& driver() const { return *driver_; }
  const DriverApi& call() const { return driver_->call(); }
  const GpuFacts& facts() const { return facts_; }
  // As Driver::check.
  Status check(DriverCode code, std::string_view doing) const {
    return driver_->check(code, doing);
  }
  // Waits for all that was asked for; a failure when some of it went wrong.
  Status wait(std::string_view doing) { return check(call().context_synchronize(), doing); }

  // Adds up the seconds that kernels ran which were verified or measured (Device::busy_seconds).
  void add_busy(double seconds) { busy_seconds_ += seconds; }
  double busy_seconds() const { return busy_seconds_; }

 private:
  GpuContext() = default;
  std::shared_ptr<Driver> driver_;
  GpuFacts facts_;
  DeviceHandle device_ = 0;
  double busy_seconds_ = 0;
  bool retained_ = false;
};

// Counts the time of its life as busy: work that the host waits for.
class BusyWait {
 public:
  explicit BusyWait(GpuContext& gpu) : gpu_(gpu) {}
  ~BusyWait() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    gpu_.add_busy(passed.count());
  }
  BusyWait(const BusyWait&) = delete;
  BusyWait& operator=(const BusyWait&) = delete;

 private:
  GpuContext& gpu_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Reasons for a lower clock (nvml.h, nvmlClocksThrottleReason...).
inline constexpr std::uint64_t kThrottlePowerCap = 0x4, kThrottleHardware = 0x8,
                               kThrottleHeat = 0x20, kThrottleHardwareHeat = 0x40,
                               kThrottlePowerBrake = 0x80;

// Names the reasons that are set. Idle clocks and clocks set by an application are not listed.
std::vector<std::string> throttle_words(std::uint64_t reasons);
// Whether a time measured meanwhile is unreliable: heat or the hardware holds the clock down. The
// power cap does not count, since a large product usually runs at it.
bool disturbs(std::uint64_t reasons);

// NVIDIA's management library (libnvidia-ml.so.1), opened at run time: clocks, power, heat.
class Nvml {
 public:
  // For the GPU with this UUID. An environment error when the library is missing or does not know
  // the GPU; hone then measures without it.
  static Result<Nvml> open(const std::string& uuid,
                           const std::string& library = "libnvidia-ml.so.1");

  GpuState state(int index) const;
  std::uint64_t throttle_reasons() const;   // 0 when not known
  std::optional<double> megahertz() const;  // of the multiprocessors, now
  std::optional<double> most_megahertz() const;

 private:
  struct Api;
  Nvml() = default;
  std::shared_ptr<const Api> api_;
  void* device_ = nullptr;
};

}  // namespace hone::device::cuda
