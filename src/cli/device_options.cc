#include "cli/device_options.h"

#include <charconv>

#include "device/cuda/driver.h"

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

Result<device::cuda::Facts> cuda_device(int index) {
  HONE_ASSIGN(const auto driver, device::cuda::Driver::open());
  HONE_ASSIGN(const auto devices, device::cuda::list_devices(*driver));
  return device::cuda::find_device(devices, index);
}

}  // namespace

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device,
                     "to measure on: cpu, cuda:0, ... (default: what the target is of)");
}

Result<std::optional<device::cuda::Facts>> choose_gpu(const std::string& device,
                                                      ToolchainOptions& toolchain) {
  std::string& target = toolchain.target;
  if (device.starts_with("hip:"))
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
    return std::optional<device::cuda::Facts>();
  }
  const bool named = device.starts_with(kCuda);
  const std::string_view number =
      std::string_view(device).substr(named ? kCuda.size() : std::size_t{0});
  const std::optional<int> index = device.empty() ? std::optional<int>(0) : index_in(number);
  if (!index || (!named && !is_cuda(target)))
    return input_error("--device '{}': devices are cpu and cuda:0, cuda:1, ...", device);
  if (!is_cuda(target) && target != "host")
    return input_error("--device {} is an NVIDIA GPU and --target {} is not", device, target);
  HONE_ASSIGN(device::cuda::Facts facts, cuda_device(*index));
  if (target == "host") target = facts.arch();
  return std::optional<device::cuda::Facts>(std::move(facts));
}

}  // namespace hone::cli
