// A device whose memory is not the host's, as a GPU's is, though its kernels are the CPU's: what it
// gives out are addresses that no process can read, so that whoever takes one for the host's dies.
#pragma once

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/kind.h"
#include "measure/half.h"
#include "measure/inputs.h"

namespace hone::test {

class ApartDevice : public device::Device {
 public:
  explicit ApartDevice(std::unique_ptr<device::Device> cpu) : cpu_(std::move(cpu)) {}

  // As CUDA's driver gives them: not what a process of Linux can have mapped.
  static std::byte* there(void* here) { return static_cast<std::byte*>(here) + kApart; }
  static std::byte* here(const void* there) {
    return static_cast<std::byte*>(const_cast<void*>(there)) - kApart;
  }

  std::string_view kind() const override { return "apart"; }
  int threads() const override { return cpu_->threads(); }

  Result<std::unique_ptr<device::Kernel>> load(
      std::string_view format, std::string_view code,
      const device::LaunchParameters& parameters) override {
    HONE_ASSIGN(auto kernel, cpu_->load(format, code, parameters));
    return std::make_unique<ApartKernel>(std::move(kernel));
  }
  Result<device::BatchTime> time(device::Kernel& kernel,
                                 std::span<const std::vector<device::Buffer>> rotation,
                                 std::size_t first, std::size_t launches) override {
    auto* const apart = dynamic_cast<ApartKernel*>(&kernel);
    if (apart == nullptr) return cpu_->time(kernel, rotation, first, launches);
    std::vector<std::vector<device::Buffer>> translated;
    for (const auto& buffers : rotation) translated.push_back(translate(buffers));
    HONE_ASSIGN(device::BatchTime time, cpu_->time(*apart->inner, translated, first, launches));
    time.disturbed = false;  // other processes take a core away, and not a GPU
    return time;
  }

  bool has_own_memory() const override { return true; }
  std::int64_t free_memory() override { return std::int64_t{1} << 30; }
  std::int64_t last_level_cache() const override { return 1 << 20; }
  Result<void*> allocate(std::size_t bytes) override {
    void* const memory = std::aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
    if (memory == nullptr) return failure("no memory left");
    ++allocated;
    return static_cast<void*>(there(memory));
  }
  void release(void* memory) override {
    --allocated;
    std::free(here(memory));
  }
  Status upload(void* to, std::span<const std::byte> from) override {
    std::memcpy(here(to), from.data(), from.size());
    return {};
  }
  Status download(std::span<std::byte> to, const void* from) override {
    ++downloads;
    std::memcpy(to.data(), here(from), to.size());
    return {};
  }
  Status copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(here(to), here(from), bytes);
    return {};
  }
  Result<std::optional<device::Difference>> difference(const void* got, const void* expected,
                                                       problem::ElementType type,
                                                       std::int64_t count, double absolute,
                                                       double relative) override {
    if (!compares) return std::nullopt;
    device::Difference difference{.right = true, .worst_error = 0, .worst_relative = 0};
    const auto size = static_cast<std::size_t>(problem::byte_size(type));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const double g = measure::load_element(here(got) + i * size, type);
      const double e = measure::load_element(here(expected) + i * size, type);
      if (g == e) continue;
      const double error = std::abs(g - e);
      if (!(error <= absolute + relative * std::abs(e))) difference.right = false;
      difference.worst_error = std::max(difference.worst_error, error);
    }
    return difference;
  }

  void vary_placement(std::uint64_t seed) override { cpu_->vary_placement(seed); }
  device::Peak measure_peak() override { return cpu_->measure_peak(); }
  device::MachineState machine_state() override { return cpu_->machine_state(); }
  device::MachineState detailed_machine_state() override { return cpu_->detailed_machine_state(); }
  std::unique_ptr<device::Kernel> calibration_kernel() override {
    return cpu_->calibration_kernel();
  }

  bool compares = true;  // false: as a GPU without NVRTC
  int allocated = 0;     // blocks that are not given back
  int downloads = 0;

 private:
  static constexpr std::ptrdiff_t kApart = std::ptrdiff_t{1} << 60;

  static std::vector<device::Buffer> translate(std::span<const device::Buffer> buffers) {
    std::vector<device::Buffer> translated;
    for (const device::Buffer& buffer : buffers)
      translated.push_back({here(buffer.data), buffer.bytes});
    return translated;
  }
  struct ApartKernel : device::Kernel {
    explicit ApartKernel(std::unique_ptr<device::Kernel> kernel) : inner(std::move(kernel)) {}
    Status launch(std::span<const device::Buffer> bindings) override {
      return inner->launch(translate(bindings));
    }
    std::unique_ptr<device::Kernel> inner;
  };

  std::unique_ptr<device::Device> cpu_;
};

}  // namespace hone::test
