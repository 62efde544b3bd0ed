// OpenBLAS, opened at run time: what a hand-tuned library makes of a contraction on this CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace hone::library {

// One row-major matrix product C = op(A) op(B), f32, alpha 1, beta 0.
struct Sgemm {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // A is stored k x m
  bool transpose_b = false;  // B is stored n x k
};

class OpenBlas {
 public:
  // Opens libopenblas.so.0 with one pinned thread per core in `cores`; the calling thread counts
  // as the first. Sets OPENBLAS_CORETYPE=SkylakeX in the environment first, unless the user set
  // it, where the CPU has AVX-512: releases up to 0.3.21 do not know newer CPUs and would run at
  // half speed. An environment error that says how to install it when it is missing.
  static Result<OpenBlas> open(std::span<const int> cores);
  ~OpenBlas();
  OpenBlas(OpenBlas&&) noexcept;
  OpenBlas& operator=(OpenBlas&&) noexcept;

  // "OpenBLAS 0.3.21 NO_AFFINITY ... SkylakeX MAX_THREADS=64"
  const std::string& configuration() const;

  // Pointers to dense row-major matrices. Not thread-safe.
  void sgemm(const Sgemm& shape, const float* a, const float* b, float* c) const;

 private:
  struct State;
  explicit OpenBlas(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::library
