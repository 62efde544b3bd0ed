// An AMD GPU as the Linux kernel shows it in /sys: the compute topology of its driver (KFD) and the
// GPU's folder on the PCI bus.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hone::device::hip {

// A node of KFD's topology (Documentation/ABI/testing/sysfs-class-kfd... of the kernel's drivers).
struct TopologyNode {
  int node = 0;
  std::uint64_t gpu_id = 0;  // as in the names of KFD's files about processes
  int xccs = 0;              // 0: the kernel does not say
  // The largest cache of the highest level: on MI300 the Infinity Cache of the whole GPU, where
  // the driver's own attribute is the L2 of one XCD.
  std::int64_t last_level_cache_bytes = 0;

  bool operator==(const TopologyNode&) const = default;
};

// Returns the node of the GPU at `pci` ("0000:05:00.0"). Partitions of one GPU are nodes of one
// address; the address's function then counts them. Nullopt if the kernel shows none.
std::optional<TopologyNode> find_node(std::string_view pci,
                                      const std::filesystem::path& root = "/");

// The GPU's folder on the PCI bus: of its address, or where a partition's address is made up, of
// function 0. Empty: there is none.
std::filesystem::path pci_folder(std::string_view pci, const std::filesystem::path& root = "/");

// How the GPU is partitioned, in the kernel's words; empty: it does not say.
struct Partition {
  std::string compute;  // "SPX", "CPX": as one GPU, or as one for each XCD
  std::string memory;   // "NPS1", "NPS4"

  bool operator==(const Partition&) const = default;
};
Partition partition_of(std::string_view pci, const std::filesystem::path& root = "/");

}  // namespace hone::device::hip
