#include "cli/device_options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "cli/device_list.h"
#include "cli/providers.h"
#include "device/cuda/facts.h"
#include "provider/resources.h"

namespace hone::cli {
namespace {

constexpr std::string_view kCuda = "cuda:";

std::optional<int> index_in(std::string_view text) {
  int index = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (code != std::errc() || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

bool is_cuda(const std::string& target) {
  return target.starts_with("sm_");
}
bool is_amd(const std::string& target) {
  return target.starts_with("gfx");
}

// The numbers in "0,2" or "cuda:0,cuda:2"; nothing where the text is no such list.
std::optional<std::vector<int>> indices_in(const std::string& device) {
  std::vector<int> indices;
  for (std::string_view rest = device; indices.empty() || !rest.empty();) {
    const auto comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    if (item.starts_with(kCuda)) item.remove_prefix(kCuda.size());
    const auto index = index_in(item);
    if (!index) return std::nullopt;
    indices.push_back(*index);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return std::nullopt;
  }
  return indices;
}

// Those of one kind with these indices.
Result<std::vector<device::Place>> places_at(const std::string& kind,
                                             const std::vector<int>& indices,
                                             const std::vector<int>& cores) {
  HONE_ASSIGN(const std::vector<device::Place> there, list_places(kind, cores));
  std::vector<device::Place> places;
  for (const int index : indices) {
    HONE_ASSIGN(device::Place place, device::find_place(there, kind, index));
    const std::string name = name_of(place.address);
    for (const device::Place& other : places) {
      if (other.address == place.address) return input_error("--device names {} twice", name);
      if (other.facts.identity != place.facts.identity)
        return input_error(
            "--device: {} ({}) and {} ({}) are not of one kind, and their results cannot "
            "be shared; tune for one after the other",
            name_of(other.address), other.facts.name, name, place.facts.name);
    }
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device,
                     "to measure on: cpu, cuda:0, cuda:0,2, ... (default: what the target is of)");
}

Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const std::vector<int>& cores) {
  std::string& target = toolchain.target;
  if (device.starts_with("hip") || device.starts_with("rocm"))
    return input_error(
        "--device {}: hone runs kernels on CPUs and NVIDIA GPUs; for an AMD GPU it "
        "states spaces and compiles (hone space --target gfx942)",
        device);
  if (is_amd(target))
    return input_error(
        "--target {} is an AMD GPU, which hone does not run on; --compile-only compiles, "
        "stores and ranks candidates for it",
        target);
  if (device == device::kHostKind || (device.empty() && !is_cuda(target))) {
    if (is_cuda(target))
      return input_error("--target {} is a GPU and --device {} is not", target, device);
    return list_places(std::string(device::kHostKind), cores);
  }
  const auto indices =
      device.empty() ? std::optional<std::vector<int>>(std::vector<int>{0}) : indices_in(device);
  if (!indices || (!device.starts_with(kCuda) && !is_cuda(target)))
    return input_error("--device '{}': devices are cpu and cuda:0, cuda:1, ...; several: cuda:0,1",
                       device);
  if (!is_cuda(target) && target != "host")
    return input_error("--device {} is an NVIDIA GPU and --target {} is not", device, target);
  HONE_ASSIGN(std::vector<device::Place> places,
              places_at(std::string(device::cuda::kKind), *indices, cores));
  if (target == "host") target = places.front().facts.target;
  return places;
}

Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const std::vector<int>& cores) {
  HONE_ASSIGN(std::vector<device::Place> places, choose_places(device, toolchain, cores));
  if (places.size() > 1)
    return input_error("--device {}: this command runs on one device; hone tune takes several",
                       device);
  return std::move(places.front());
}

std::string gpu_or_cores() {
  const auto places = list_places(std::string(device::cuda::kKind));
  return places && !places->empty() ? std::string(kCuda) + "0" : std::string(device::kHostKind);
}

std::string device_for_code(const std::set<std::string>& formats) {
  const bool gpu = formats.contains(std::string(provider::kCudaPtx)) ||
                   formats.contains(std::string(provider::kCudaCubin));
  return gpu ? std::string(kCuda) + "0" : std::string();
}

Result<std::vector<device::LockFile>> lease(std::span<const device::Place> places) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  std::vector<device::LockFile> locks;
  for (const device::Place& place : places) {
    const auto kind = std::ranges::find(kinds, place.address.kind, &device::DeviceKind::name);
    HONE_ASSIGN(auto more, kind->lease(place));
    std::ranges::move(more, std::back_inserter(locks));
  }
  return locks;
}

}  // namespace hone::cli
