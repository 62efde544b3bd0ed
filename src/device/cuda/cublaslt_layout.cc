#include "device/cuda/cublaslt_layout.h"

#include <limits>
#include <optional>

#include "device/cuda/cublaslt_api.h"

namespace hone::device::cuda {
namespace {

using problem::ElementType;

std::optional<int> data_type(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return kLtF16;
    case ElementType::kBF16:
      return kLtBF16;
    case ElementType::kF32:
      return kLtF32;
    default:
      return std::nullopt;
  }
}

ColumnMajor column_major(std::size_t binding, int type, std::int64_t rows, std::int64_t columns,
                         bool transposed) {
  if (transposed) std::swap(rows, columns);  // as it is stored
  return {.binding = binding,
          .type = type,
          .rows = static_cast<std::uint64_t>(columns),
          .columns = static_cast<std::uint64_t>(rows),
          .leading = columns,
          .stride = rows * columns,
          .transposed = transposed};
}

}  // namespace

Result<ColumnMajorProduct> column_major(const Product& product) {
  const std::optional<int> input = data_type(product.input), output = data_type(product.output);
  if (!input || !output || (product.output != ElementType::kF32 && product.output != product.input))
    return input_error("cuBLASLt does not multiply {} into {} with sums in f32",
                       problem::name_of(product.input), problem::name_of(product.output));
  if (product.batches < 1 || product.batches > std::numeric_limits<std::int32_t>::max())
    return input_error("cuBLASLt takes no batch of {} products", product.batches);
  ColumnMajorProduct columns;
  columns.first =
      column_major(product.bindings[1], *input, product.k, product.n, product.transpose_b);
  columns.second =
      column_major(product.bindings[0], *input, product.m, product.k, product.transpose_a);
  columns.output = column_major(product.bindings[2], *output, product.m, product.n, false);
  columns.batches = static_cast<std::int32_t>(product.batches);
  columns.beta = product.accumulate ? 1 : 0;
  // Parts added up in a 16-bit output would be rounded on the way, which the dispatch does not do.
  columns.reductions = kLtReduceInF32;
  if (product.output == ElementType::kF32) columns.reductions |= kLtReduceInOutput;
  return columns;
}

}  // namespace hone::device::cuda
