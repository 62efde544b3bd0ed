// A matrix product as a vendor's library is asked for it, and how a dispatch is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "problem/dispatch.h"

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

// Maps a contraction to a product of row-major matrices; `bindings` are its operands. If the output
// is stored n x m, the product is C' = B' A', and the first operand is the right-hand one. An input
// error if the operation is no static (batch) matmul with leading batch dimensions.
Result<Product> plan_product(const problem::Operation& operation);

// Returns the whole dispatch as a product over its own bindings. It is a bare contraction, of zeros
// or added to what the output held. Its result may be narrowed to 16 bits when stored, as a library
// does too. An input error that names any other fused operation.
Result<Product> dispatch_product(const problem::Dispatch& dispatch);

}  // namespace hone::device
