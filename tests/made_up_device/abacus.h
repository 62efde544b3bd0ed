// A kind of devices that no folder of src/ knows: memory of its own, as a GPU has, and disturbed by
// compiling, as a CPU is. Its kernels are those of tests/tune_fake/fake_program.h.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "tests/tune_fake/fake_program.h"

namespace hone::test {

inline constexpr std::string_view kAbacus = "abacus";

// What all of them did.
struct AbacusLog {
  std::vector<int> opened;  // indices
  int launches = 0, uploads = 0, downloads = 0;
};

class Abacus final : public device::Device {
 public:
  explicit Abacus(AbacusLog& log) : log_(log) {}

  std::string_view kind() const override { return kAbacus; }
  int threads() const override { return 1; }

  Result<std::unique_ptr<device::Kernel>> load(std::string_view format, std::string_view code,
                                               const device::LaunchParameters&) override {
    if (format != "fake") return failure("an abacus does not run {}", format);
    return std::make_unique<Product>(log_, tile_in(std::string(code)));
  }
  Result<device::BatchTime> time(device::Kernel& kernel,
                                 std::span<const std::vector<device::Buffer>> rotation,
                                 std::size_t first, std::size_t launches) override {
    HONE_TRY(kernel.launch(rotation[first % rotation.size()]));
    const auto* const product = dynamic_cast<const Product*>(&kernel);
    const double seconds = fake_seconds(product != nullptr ? product->tile : kDefaultTile);
    device::BatchTime time;
    time.seconds = time.cpu_seconds = static_cast<double>(launches) * seconds * noise_.next();
    return time;
  }

  bool has_own_memory() const override { return true; }
  std::int64_t free_memory() override { return std::int64_t{1} << 30; }
  Result<void*> allocate(std::size_t bytes) override { return there(std::malloc(bytes)); }
  void release(void* memory) override { std::free(here(memory)); }
  Status upload(void* to, std::span<const std::byte> from) override {
    ++log_.uploads;
    std::memcpy(here(to), from.data(), from.size());
    return {};
  }
  Status download(std::span<std::byte> to, const void* from) override {
    ++log_.downloads;
    std::memcpy(to.data(), here(from), to.size());
    return {};
  }
  Status copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(here(to), here(from), bytes);
    return {};
  }

  device::Peak measure_peak() override { return {.gflops = 1, .instructions = "beads"}; }
  device::MachineState machine_state() override { return {}; }
  device::MachineState detailed_machine_state() override { return {}; }
  std::unique_ptr<device::Kernel> calibration_kernel() override {
    return std::make_unique<Product>(log_, kDefaultTile);
  }

 private:
  // Addresses that no process can read: who takes one for the host's dies.
  static constexpr std::ptrdiff_t kApart = std::ptrdiff_t{1} << 60;
  static void* there(void* here) { return static_cast<std::byte*>(here) + kApart; }
  static std::byte* here(const void* there) {
    return static_cast<std::byte*>(const_cast<void*>(there)) - kApart;
  }

  // C += A B; A has rows of 8, B is 8 x 8. Without bindings it does nothing.
  struct Product final : device::Kernel {
    Product(AbacusLog& of, std::int64_t tile_of) : log(of), tile(tile_of) {}
    Status launch(std::span<const device::Buffer> bindings) override {
      ++log.launches;
      if (bindings.empty()) return {};
      constexpr std::size_t kWidth = 8;
      const auto at = [&](std::size_t i) {
        return reinterpret_cast<float*>(here(bindings[i].data));
      };
      const float *const a = at(0), *const b = at(1);
      for (std::size_t i = 0; i < bindings[2].bytes / sizeof(float); ++i)
        for (std::size_t k = 0; k < kWidth; ++k)
          at(2)[i] += a[i / kWidth * kWidth + k] * b[k * kWidth + i % kWidth];
      return {};
    }
    AbacusLog& log;
    std::int64_t tile;
  };

  AbacusLog& log_;
  FakeNoise noise_;
};

// This machine has two of them. The line that registers it is where a runner is made.
inline device::DeviceKind abacus(AbacusLog& log) {
  return {
      .name = std::string(kAbacus),
      .runs = [](const std::string& target) { return target == "beads"; },
      .places = [](const std::vector<int>& cores) -> Result<std::vector<device::Place>> {
        std::vector<device::Place> places;
        for (const int index : {0, 1}) {
          device::Place& place = places.emplace_back();
          place.address = {std::string(kAbacus), index, cores};
          place.traits = {.own_memory = true,
                          .compiling_disturbs = true,
                          .one_batch_tells = true,
                          .assembles_code = false,
                          .runs_on_host = false,
                          .matrix_units = false};
          place.facts.name = "abacus of 13 rods";
          place.facts.target = "beads";
          place.facts.identity = R"({"identity":{"kind":"abacus","rods":13}})";
          place.facts.last_level_cache_bytes = 1 << 10;
        }
        return places;
      },
      .open = [&log](const device::Address& address) -> Result<std::unique_ptr<device::Device>> {
        log.opened.push_back(address.index.value_or(-1));
        return std::make_unique<Abacus>(log);
      },
      .lease = [](const device::Place&) { return std::vector<device::LockFile>(); }};
}

}  // namespace hone::test
