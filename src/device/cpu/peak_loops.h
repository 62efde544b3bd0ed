// Loops that do nothing but f32 arithmetic in registers.
#pragma once

#include <span>

namespace hone::device::cpu {

struct PeakLoop {
  const char* instructions;  // "avx512f"
  bool (*available)();       // on this processor
  void (*run)(long rounds);
  double flops_per_round;
};

// Widest first; the last one runs everywhere.
std::span<const PeakLoop> peak_loops();

}  // namespace hone::device::cpu
