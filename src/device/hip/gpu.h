// AMD's GPUs of this machine: facts that HIP and the kernel's driver state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/gpu.h"
#include "device/hip/driver.h"
#include "device/hip/topology.h"
#include "device/place.h"

namespace hone::device::hip {

// Device::kind() of these devices.
inline constexpr std::string_view kKind = "hip";

// A GPU, or a partition of one. The id is of UUID, PCI address, compute units and partition, since
// partitions may share all but one of them.
struct GpuFacts : gpu::GpuFacts {
  std::string isa;            // "gfx942:sramecc+:xnack-"
  int wave_size = 0;          // threads of a wave
  int xccs = 0;               // accelerator dies; 0: not known
  std::int64_t l2_bytes = 0;  // of one die
  Partition partition;
  std::uint64_t gpu_id = 0;  // TopologyNode::gpu_id
  bool emulated = false;     // an emulator's: its times are no GPU's
  // Variables that make the runtime report other GPUs than there are: "NAME=VALUE".
  std::vector<std::string> overrides;

  bool operator==(const GpuFacts&) const = default;
};

// All GPUs that the process sees (HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES count). `root`: of
// the folders /sys.
Result<std::vector<GpuFacts>> list_devices(Driver& driver, const std::filesystem::path& root = "/");

// The place of a GPU with these facts; `library`: of the driver (Driver::library).
Place place_of(const GpuFacts& facts, const std::string& library, std::vector<int> cores);

// Set variables by which ROCm's runtime takes its GPUs for others: HSA_OVERRIDE_GFX_VERSION, and
// HSA_OVERRIDE_GFX_VERSION_N of a single one.
std::vector<std::string> overrides_in(const char* const* environment);

}  // namespace hone::device::hip
