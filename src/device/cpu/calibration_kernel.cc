#include "device/cpu/calibration_kernel.h"

#include "device/cpu/peak_loops.h"

namespace hone::device::cpu {
namespace {

constexpr std::size_t kFloats = (std::size_t{256} << 10) / sizeof(float);
constexpr int kPasses = 4;
// The portable loop, not the widest one: every machine has it, and it heats nothing.
constexpr long kRounds = 3000;

}  // namespace

CalibrationKernel::CalibrationKernel(ThreadPool& pool)
    : pool_(pool), memory_(static_cast<std::size_t>(pool.size())) {
  // Each thread touches its own first, so that it lies near its core.
  pool_.run(
      [this](int thread) { memory_[static_cast<std::size_t>(thread)].assign(kFloats, 1.0f); });
}

Status CalibrationKernel::launch(std::span<const Buffer>) {
  pool_.run([this](int thread) {
    float* values = memory_[static_cast<std::size_t>(thread)].data();
    // Halving the distance to two: bounded, never denormal, and no pass can be left out.
    for (int pass = 0; pass < kPasses; ++pass)
      for (std::size_t i = 0; i < kFloats; ++i) values[i] = 0.5f * values[i] + 1.0f;
    peak_loops().back().run(kRounds);
  });
  return {};
}

}  // namespace hone::device::cpu
