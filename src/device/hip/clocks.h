// Clocks, power, heat and throttling of an AMD GPU, from its driver's files in /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/machine_state.h"

namespace hone::device::hip {

// Reasons for a lower clock, as bits.
inline constexpr unsigned kThrottlePowerCap = 1, kThrottleHeat = 2, kThrottleRegulators = 4,
                          kThrottleMemoryHeat = 8, kThrottleHardware = 16;
std::vector<std::string> throttle_words(unsigned reasons);

// Throttling as the file gpu_metrics states it. Layouts as in kgd_pp_interface.h of Linux 7.2
// (2be02a7c996a), compared with its older versions:
// - 1.3 (MI200) has reasons that hold now (bits as in amdgpu_smu.h);
// - 1.4 and 1.5 (MI300, drivers before November 2024) have no reasons: the driver writes 0;
// - 1.6 to 1.8 (MI300) count the time under each;
// - 1.9 (MI300, drivers since September 2025) has the same counters in a list of attributes.
struct ThrottleRecord {
  unsigned reasons = 0;  // now
  // Counters; nullopt where the driver does not fill them in.
  std::optional<std::uint64_t> hardware{}, power_cap{}, heat{}, regulators{}, memory_heat{};

  bool operator==(const ThrottleRecord&) const = default;
};
// Nullopt for a table of another version, or one that is too short.
std::optional<ThrottleRecord> throttle_record(std::string_view gpu_metrics);

// The clocks in a table of levels ("0: 500Mhz\n1: 2100Mhz *"): the marked one, and the highest.
struct ClockLevels {
  std::optional<double> now, most;  // MHz
};
ClockLevels clock_levels(std::string_view table);

// For one thread: it remembers the counters of the look before.
class Clocks {
 public:
  // `folder`: pci_folder() of the GPU. `gpu_id`: TopologyNode::gpu_id, 0 if not known.
  Clocks(std::filesystem::path folder, std::uint64_t gpu_id, std::filesystem::path root = "/");

  GpuState state(int index);
  std::optional<double> megahertz() const;  // of the compute units, now
  std::optional<double> most_megahertz() const;
  // Reasons that hold, or have held since the call before. state() lists those since the state
  // before.
  unsigned throttle_reasons();

 private:
  std::filesystem::path folder_, hwmon_, root_;
  std::uint64_t gpu_id_ = 0;
  std::optional<ThrottleRecord> before_;
  unsigned since_state_ = 0;
};

}  // namespace hone::device::hip
