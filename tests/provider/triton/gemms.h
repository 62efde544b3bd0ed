// GEMMs of tests: f16, stored by rows.
#pragma once

#include "provider/triton/gemm.h"

namespace hone::triton {

inline Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  return gemm;
}

}  // namespace hone::triton
