// A device without hardware: its kernels compute the products of fake_program.h, rightly or as
// their tile is made to fail, and take as long as their code says. All that judges and times them
// is hone's own.
#pragma once

#include <map>
#include <memory>

#include "device/device.h"
#include "tests/tune_fake/fake_program.h"

namespace hone::test {

enum class FakeFault {
  kNone,
  kWrong,       // one element of the product
  kTransposed,  // reads B by its other dimension
  kFaults,      // the kernel itself reports an error
  kLost,        // takes the device with it, as an illegal access does on a GPU
  kTooFast,     // right, and measured to be faster than the device can be
};

class FakeDevice final : public device::Device {
 public:
  using Faults = std::map<std::int64_t, FakeFault>;  // by tile; the others do right
  explicit FakeDevice(const Faults& faults) : faults_(faults) {}

  std::string_view kind() const override { return "fake"; }
  int threads() const override { return 1; }

  Result<std::unique_ptr<device::Kernel>> load(std::string_view format, std::string_view code,
                                               const device::LaunchParameters&) override {
    if (format != "fake") return failure("a fake device does not run {}", format);
    return std::make_unique<Product>(*this, tile_in(std::string(code)));
  }

  // Launches it once, whatever it says of the time of all.
  Result<device::BatchTime> time(device::Kernel& kernel,
                                 std::span<const std::vector<device::Buffer>> rotation,
                                 std::size_t first, std::size_t launches) override {
    HONE_TRY(kernel.launch(rotation[first % rotation.size()]));
    const auto* const product = dynamic_cast<const Product*>(&kernel);
    double seconds = fake_seconds(product != nullptr ? product->tile : kDefaultTile);
    if (product != nullptr && product->fault == FakeFault::kTooFast) seconds = 1e-9;
    device::BatchTime time;
    time.seconds = time.cpu_seconds = static_cast<double>(launches) * seconds * noise_.next();
    return time;
  }

  bool is_lost() const override { return is_lost_; }
  // Of 8 x 8 x 8 at least: 1024 flop in 0.1 ms are 0.01 GFLOP/s.
  device::Peak measure_peak() override { return {.gflops = 1, .instructions = "fake"}; }
  device::MachineState machine_state() override { return {}; }
  device::MachineState detailed_machine_state() override { return {}; }
  std::unique_ptr<device::Kernel> calibration_kernel() override {
    struct Nothing final : device::Kernel {
      Status launch(std::span<const device::Buffer>) override { return {}; }
    };
    return std::make_unique<Nothing>();
  }

 private:
  // C += A B; A has rows of 8, B is 8 x 8, as in every dispatch of fake_program.h.
  struct Product final : device::Kernel {
    Product(FakeDevice& on, std::int64_t of)
        : device(on),
          tile(of),
          fault(on.faults_.count(of) > 0 ? on.faults_.at(of) : FakeFault::kNone) {}

    Status launch(std::span<const device::Buffer> bindings) override {
      if (fault == FakeFault::kFaults) return failure("the kernel reports an error of its own");
      if (fault == FakeFault::kLost) {
        device.is_lost_ = true;
        return failure("an illegal memory access was encountered");
      }
      constexpr std::size_t kWidth = 8;
      const auto* const a = static_cast<const float*>(bindings[0].data);
      const auto* const b = static_cast<const float*>(bindings[1].data);
      auto* const c = static_cast<float*>(bindings[2].data);
      for (std::size_t at = 0; at < bindings[2].bytes / sizeof(float); ++at)
        for (std::size_t k = 0; k < kWidth; ++k)
          c[at] += a[at / kWidth * kWidth + k] *
                   b[fault == FakeFault::kTransposed ? at % kWidth * kWidth + k
                                                     : k * kWidth + at % kWidth];
      if (fault == FakeFault::kWrong) c[1] += 1;
      return {};
    }

    FakeDevice& device;
    std::int64_t tile;
    FakeFault fault;
  };

  Faults faults_;
  FakeNoise noise_;
  bool is_lost_ = false;
};

}  // namespace hone::test
