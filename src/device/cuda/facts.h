// Which GPUs this machine has, as the driver states it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cuda/driver.h"

namespace hone::device::cuda {

// Device::kind() of these devices.
inline constexpr std::string_view kKind = "cuda";

struct Facts {
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
  bool operator==(const Facts&) const = default;
};

void to_json(nlohmann::json& json, const Facts& facts);

// All GPUs that the process sees (CUDA_VISIBLE_DEVICES counts).
Result<std::vector<Facts>> list_devices(Driver& driver);

// An input error that lists what there is: "device cuda:7 is not there: this machine has cuda:0
// (NVIDIA H200)".
Result<Facts> find_device(const std::vector<Facts>& devices, int index);

// Device identity: facts that two comparable measurements share. It tells a store from another
// machine with the same GPU from a store of another GPU.
nlohmann::json device_identity(const Facts& facts);

}  // namespace hone::device::cuda
