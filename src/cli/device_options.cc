#include "cli/device_options.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "device/cuda/driver.h"
#include "device/cuda/lease.h"

namespace hone::cli {
namespace {

constexpr std::string_view kCpu = "cpu";
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

Result<std::vector<device::cuda::Facts>> cuda_devices(const std::vector<int>& indices) {
  HONE_ASSIGN(const auto there, all_gpus());
  std::vector<device::cuda::Facts> devices;
  for (const int index : indices) {
    HONE_ASSIGN(device::cuda::Facts facts, device::cuda::find_device(there, index));
    for (const device::cuda::Facts& other : devices) {
      if (other.index == index) return input_error("--device names cuda:{} twice", index);
      if (device::cuda::device_identity(other) != device::cuda::device_identity(facts))
        return input_error(
            "--device: cuda:{} ({}) and cuda:{} ({}) are not of one kind, and their results cannot "
            "be shared; tune for one after the other",
            other.index, other.name, index, facts.name);
    }
    devices.push_back(std::move(facts));
  }
  return devices;
}

}  // namespace

Result<std::vector<device::cuda::Facts>> all_gpus() {
  HONE_ASSIGN(const auto driver, device::cuda::Driver::open());
  return device::cuda::list_devices(*driver);
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device,
                     "to measure on: cpu, cuda:0, cuda:0,2, ... (default: what the target is of)");
}

Result<std::vector<device::cuda::Facts>> choose_gpus(const std::string& device,
                                                     ToolchainOptions& toolchain) {
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
  if (device == kCpu || (device.empty() && !is_cuda(target))) {
    if (is_cuda(target))
      return input_error("--target {} is a GPU and --device {} is not", target, device);
    return std::vector<device::cuda::Facts>();
  }
  const auto indices =
      device.empty() ? std::optional<std::vector<int>>(std::vector<int>{0}) : indices_in(device);
  if (!indices || (!device.starts_with(kCuda) && !is_cuda(target)))
    return input_error("--device '{}': devices are cpu and cuda:0, cuda:1, ...; several: cuda:0,1",
                       device);
  if (!is_cuda(target) && target != "host")
    return input_error("--device {} is an NVIDIA GPU and --target {} is not", device, target);
  HONE_ASSIGN(std::vector<device::cuda::Facts> devices, cuda_devices(*indices));
  if (target == "host") target = devices.front().arch();
  return devices;
}

Result<std::optional<device::cuda::Facts>> choose_gpu(const std::string& device,
                                                      ToolchainOptions& toolchain) {
  HONE_ASSIGN(const std::vector<device::cuda::Facts> gpus, choose_gpus(device, toolchain));
  if (gpus.size() > 1)
    return input_error("--device {}: this command runs on one device; hone tune takes several",
                       device);
  if (gpus.empty()) return std::optional<device::cuda::Facts>();
  return std::optional<device::cuda::Facts>(gpus.front());
}

Result<std::vector<device::LockFile>> lease_gpus(std::span<const device::cuda::Facts> gpus) {
  std::vector<device::LockFile> locks;
  for (const device::cuda::Facts& gpu : gpus) {
    HONE_ASSIGN(device::LockFile lock, device::cuda::lease_for_command(gpu));
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace hone::cli
