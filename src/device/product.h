// A matrix product as a vendor's library is asked for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "problem/types.h"

namespace hone::device {

// C[b] = A[b] B[b] for `batches` b, of dense row-major matrices that follow one another; terms are
// added up in f32.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batches = 1;
  bool transpose_a = false;                                 // A is stored k x m
  bool transpose_b = false;                                 // B is stored n x k
  bool accumulate = false;                                  // C += A B
  problem::ElementType input = problem::ElementType::kF32;  // of A and B
  problem::ElementType output = problem::ElementType::kF32;
  std::array<std::size_t, 3> bindings{0, 1, 2};  // that hold A, B and C when the kernel is launched

  bool operator==(const Product&) const = default;
};

}  // namespace hone::device
