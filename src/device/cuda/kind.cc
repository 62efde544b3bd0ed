#include "device/cuda/kind.h"

#include "device/cuda/own_kernels.h"

namespace hone::device::cuda {
namespace {

// Below this share of its highest clock a GPU is held down by something (nvbench's rule).
constexpr double kLeastClock = 0.75;

bool loads(std::string_view format) {
  return format.find("ptx") != std::string_view::npos ||
         format.find("cubin") != std::string_view::npos;
}

std::optional<gpu::Monitor> monitor(const GpuFacts& facts) {
  auto opened = Nvml::open(facts.id);
  if (!opened) return std::nullopt;
  const auto nvml = std::make_shared<Nvml>(std::move(*opened));
  return gpu::Monitor{.state = [nvml, index = facts.index] { return nvml->state(index); },
                      .megahertz = [nvml] { return nvml->megahertz(); },
                      .is_slowed = [nvml] { return disturbs(nvml->throttle_reasons()); },
                      .least_megahertz = kLeastClock * nvml->most_megahertz().value_or(0)};
}

Result<std::vector<Place>> places(const std::vector<int>& cores) {
  HONE_ASSIGN(const auto driver, open_driver());
  HONE_ASSIGN(const std::vector<GpuFacts> devices, list_devices(*driver));
  std::vector<Place> places;
  for (const GpuFacts& facts : devices) places.push_back(place_of(facts, cores));
  return places;
}

}  // namespace

gpu::Vendor vendor() {
  return {.kind = kKind,
          .loads = loads,
          .formats = "a CUDA GPU runs PTX and cubins",
          .monitor = monitor,
          .own_kernels = [](const gpu::GpuContext& gpu) { return own_kernels(gpu.facts()); },
          .open_driver = [](const std::string&) { return open_driver(); },
          .list = list_devices,
          .places = places,
          .runs = [](const std::string& target) { return target.starts_with("sm_"); }};
}

DeviceKind kind() {
  return gpu::kind_of(vendor());
}

}  // namespace hone::device::cuda
