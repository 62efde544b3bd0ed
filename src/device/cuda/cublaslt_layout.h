// Expresses a product of row-major matrices for cuBLASLt, which is column-major.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "device/product.h"

namespace hone::device::cuda {

// A matrix as cuBLASLt sees it: a row-major R x C matrix is a column-major C x R one.
struct ColumnMajor {
  std::size_t binding = 0;
  int type = 0;  // cudaDataType_t
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;  // elements from one column to the next
  std::int64_t stride = 0;   // elements from one matrix of the batch to the next
  bool transposed = false;   // in the product

  bool operator==(const ColumnMajor&) const = default;
};

// C' = B' A': the output read in columns is the product of the operands in the other order.
struct ColumnMajorProduct {
  ColumnMajor first, second, output;
  std::int32_t batches = 1;
  float beta = 0;
  std::uint32_t reductions = 0;  // how parts of a split k loop may be added up

  bool operator==(const ColumnMajorProduct&) const = default;
};

// An input error for element types that cuBLASLt does not multiply with sums in f32: operands are
// f16, bf16 or f32, the output is f32 or of the operands' type.
Result<ColumnMajorProduct> column_major(const Product& product);

}  // namespace hone::device::cuda
