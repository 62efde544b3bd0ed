#include "device/hip/topology.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace hone::device::hip {
namespace {

namespace fs = std::filesystem;

// A PCI address in parts.
struct PciAddress {
  std::uint64_t domain = 0, bus = 0, device = 0, function = 0;
};

// "0000:05:00.0".
std::optional<PciAddress> pci_address(std::string_view text) {
  PciAddress address;
  std::uint64_t* const parts[] = {&address.domain, &address.bus, &address.device,
                                  &address.function};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *parts[i], 16);
    if (code != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i + 1 < std::size(parts)) {
      if (text.empty()) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return address;
}

// The number in the line "key number"; nullopt if there is none.
std::optional<std::uint64_t> number_of(const std::string& properties, std::string_view key) {
  std::istringstream lines(properties);
  for (std::string name, value; lines >> name >> value;)
    if (name == key) return std::strtoull(value.c_str(), nullptr, 10);
  return std::nullopt;
}

std::string text_in(const fs::path& file) {
  std::string text = read_file(file).value_or("");
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

std::int64_t last_level_cache(const fs::path& node) {
  std::uint64_t highest = 0;
  std::int64_t bytes = 0;
  std::error_code error;
  for (const auto& cache : fs::directory_iterator(node / "caches", error)) {
    const std::string properties = text_in(cache.path() / "properties");
    const std::uint64_t level = number_of(properties, "level").value_or(0);
    const auto size = static_cast<std::int64_t>(number_of(properties, "size").value_or(0) << 10);
    if (level > highest) bytes = 0;
    highest = std::max(highest, level);
    if (level == highest) bytes = std::max(bytes, size);
  }
  return bytes;
}

}  // namespace

std::optional<TopologyNode> find_node(std::string_view pci, const fs::path& root) {
  const auto wanted = pci_address(pci);
  if (!wanted) return std::nullopt;
  // kfd_topology.c: domain, bus << 8 | device << 3 | function; a partition's number in the four
  // highest bits.
  const std::uint64_t location = wanted->bus << 8 | wanted->device << 3;
  const fs::path nodes = root / "sys/class/kfd/kfd/topology/nodes";
  std::vector<std::pair<std::uint64_t, TopologyNode>> found;  // by partition
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(nodes, error)) {
    const fs::path folder = entry.path();
    const std::string properties = text_in(folder / "properties");
    const std::uint64_t at = number_of(properties, "location_id").value_or(0);
    if (number_of(properties, "simd_count").value_or(0) == 0 ||  // a CPU
        number_of(properties, "domain").value_or(0) != wanted->domain || (at & 0xFFF8) != location)
      continue;
    TopologyNode node;
    node.node = static_cast<int>(std::strtol(folder.filename().c_str(), nullptr, 10));
    node.gpu_id = std::strtoull(text_in(folder / "gpu_id").c_str(), nullptr, 10);
    node.xccs = static_cast<int>(number_of(properties, "num_xcc").value_or(0));
    node.last_level_cache_bytes = last_level_cache(folder);
    found.emplace_back(std::max(at >> 28, at & 7), node);
  }
  if (found.empty()) return std::nullopt;
  const auto own =
      std::ranges::find_if(found, [&](const auto& each) { return each.first == wanted->function; });
  return own != found.end() ? own->second : found.front().second;
}

fs::path pci_folder(std::string_view pci, const fs::path& root) {
  const fs::path devices = root / "sys/bus/pci/devices";
  const std::string first = std::string(pci.substr(0, pci.find('.'))) + ".0";
  std::error_code error;
  for (const std::string& name : {std::string(pci), first})
    if (!name.empty() && fs::exists(devices / name, error)) return devices / name;
  return {};
}

Partition partition_of(std::string_view pci, const fs::path& root) {
  const fs::path folder = pci_folder(pci, root);
  if (folder.empty()) return {};
  return {text_in(folder / "current_compute_partition"),
          text_in(folder / "current_memory_partition")};
}

}  // namespace hone::device::hip
