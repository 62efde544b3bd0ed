// NVIDIA's GPUs of this machine: facts that the driver states, and clocks, power and heat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cuda/driver.h"
#include "device/gpu/gpu.h"
#include "device/machine_state.h"
#include "device/place.h"

namespace hone::device::cuda {

// Device::kind() of these devices.
inline constexpr std::string_view kKind = "cuda";

using gpu::GpuFacts;

// All GPUs that the process sees (CUDA_VISIBLE_DEVICES counts). Their ids are UUIDs, and the
// last-level cache is the L2.
Result<std::vector<GpuFacts>> list_devices(Driver& driver);

// The place of a GPU with these facts from the driver.
Place place_of(const GpuFacts& facts, std::vector<int> cores);

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
