// The most the cores can do, measured: the roof that kernels are compared with.
#pragma once

#include <span>

#include "device/cpu/thread_pool.h"
#include "device/device.h"

namespace hone::device::cpu {

// A loop that does nothing but f32 arithmetic in registers.
struct PeakLoop {
  const char* instructions;  // "avx512f"
  bool (*available)();       // on this processor
  void (*run)(long rounds);
  double flops_per_round;
};

// Widest first; the last one runs everywhere.
std::span<const PeakLoop> peak_loops();

// f32 multiply-add throughput of the pool's threads together (the best of the register-only loops
// that the CPU can run: AVX-512, AVX2 with FMA, SSE2) and the bandwidth of a triad over memory
// beyond the second-level cache. f16 contractions share the f32 figure, since IREE converts them
// to f32. Takes below 0.3 s.
Peak measure_peak(ThreadPool& pool);

}  // namespace hone::device::cpu
