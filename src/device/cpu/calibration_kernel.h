// Fixed work on every thread of a pool, to see how much its time differs from launch to launch.
#pragma once

#include <vector>

#include "device/cpu/thread_pool.h"
#include "device/device.h"

namespace hone::device::cpu {

// Each launch reads and writes half a typical L2 per thread (256 KiB) and does as much arithmetic
// again in registers: about 0.1 ms, sensitive to clocks, to whoever shares a core and to whoever
// shares its caches. `pool` must live longer.
class CalibrationKernel final : public Kernel {
 public:
  explicit CalibrationKernel(ThreadPool& pool);
  Status launch(std::span<const Buffer> bindings) override;

 private:
  ThreadPool& pool_;
  std::vector<std::vector<float>> memory_;  // by thread
};

}  // namespace hone::device::cpu
