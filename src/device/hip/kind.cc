#include "device/hip/kind.h"

#include "device/gpu/lease.h"
#include "device/hip/clocks.h"
#include "device/hip/gpu.h"
#include "device/hip/own_kernels.h"

namespace hone::device::hip {
namespace {

bool loads(std::string_view format) {
  return format.find("hsaco") != std::string_view::npos;
}

std::optional<gpu::Monitor> monitor(const gpu::GpuFacts& facts) {
  const std::filesystem::path folder = pci_folder(facts.pci);
  if (folder.empty()) return std::nullopt;
  const auto node = find_node(facts.pci);
  const auto clocks = std::make_shared<Clocks>(folder, node ? node->gpu_id : 0);
  // No least clock: at the power cap an MI300X runs large products far below its highest.
  return gpu::Monitor{
      .state = [clocks, index = facts.index] { return clocks->state(index); },
      .megahertz = [clocks] { return clocks->megahertz(); },
      .is_slowed = [clocks] { return (clocks->throttle_reasons() & ~kThrottlePowerCap) != 0; }};
}

Result<std::vector<gpu::GpuFacts>> list(Driver& driver) {
  HONE_ASSIGN(const std::vector<GpuFacts> devices, list_devices(driver));
  return std::vector<gpu::GpuFacts>(devices.begin(), devices.end());
}

Result<std::vector<Place>> places(const std::vector<int>& cores) {
  HONE_ASSIGN(const auto driver, open_driver());
  HONE_ASSIGN(const std::vector<GpuFacts> devices, list_devices(*driver));
  std::vector<Place> places;
  for (const GpuFacts& facts : devices) places.push_back(place_of(facts, driver->library(), cores));
  return places;
}

}  // namespace

gpu::Vendor vendor() {
  return {.kind = kKind,
          .loads = loads,
          .formats = "an AMD GPU runs code objects",
          .monitor = monitor,
          .own_kernels = own_kernels,
          .open_driver = open_driver,
          .list = list,
          .places = places,
          .runs = [](const std::string& target) { return target.starts_with("gfx"); }};
}

DeviceKind kind() {
  return gpu::kind_of(vendor());
}

}  // namespace hone::device::hip
