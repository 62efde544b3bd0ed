// What is generated where nobody names a shape.
#include <array>
#include <span>

#include "profiler/sweep.h"

namespace hone::profiler {
namespace {

using Sizes = std::array<std::int64_t, 4>;  // batch, m, n, k

// The old tool's three; those of a split K and of batches too.
constexpr Sizes kMatmuls[] = {{1, 256, 512, 128}, {1, 2560, 2560, 2560}, {1, 3456, 1024, 2048}};
constexpr Sizes kSplitK[] = {{1, 128, 128, 12288}};
constexpr Sizes kBatches[] = {{16, 512, 64, 512}};
// A feed-forward layer of BERT-base, 128 tokens.
constexpr Sizes kFused[] = {{1, 128, 3072, 768}};
// Self-attention of BERT-base over 512 tokens, and of Stable Diffusion XL's UNet at 64 x 64.
constexpr Sizes kAttentions[] = {{12, 512, 512, 64}, {20, 4096, 4096, 64}};

// ResNet-50's 3 x 3 convolutions, their borders there already, and a strided 1 x 1.
struct ConvShape {
  std::int64_t size, channels, filters, filter, stride;
};
constexpr ConvShape kConvolutions[] = {
    {58, 64, 64, 3, 1}, {30, 128, 128, 3, 1}, {16, 256, 256, 3, 1}, {56, 256, 512, 1, 2}};

std::span<const Sizes> sizes_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::kMatmul:
      return kMatmuls;
    case OperationKind::kSplitKMatmul:
      return kSplitK;
    case OperationKind::kBatchMatmul:
      return kBatches;
    case OperationKind::kAttention:
      return kAttentions;
    default:
      return kFused;
  }
}

Sweep sweep_of(OperationKind kind, const Sizes& sizes) {
  Sweep sweep;
  sweep.kinds = {kind};
  sweep.extents = {{"m", {sizes[1]}}, {"n", {sizes[2]}}, {"k", {sizes[3]}}, {"batch", {sizes[0]}}};
  return sweep;
}

Sweep sweep_of(OperationKind kind, const ConvShape& shape) {
  Sweep sweep;
  sweep.kinds = {kind};
  sweep.extents = {{"height", {shape.size}},          {"width", {shape.size}},
                   {"channels", {shape.channels}},    {"filters", {shape.filters}},
                   {"filter_height", {shape.filter}}, {"filter_width", {shape.filter}},
                   {"stride", {shape.stride}}};
  return sweep;
}

void add(const Sweep& sweep, std::vector<Operation>& operations) {
  const auto more = operations_of(sweep);
  if (more) operations.insert(operations.end(), more->begin(), more->end());
}

}  // namespace

std::vector<Operation> default_operations(OperationKind kind) {
  std::vector<Operation> operations;
  if (is_convolution(kind))
    for (const ConvShape& shape : kConvolutions) add(sweep_of(kind, shape), operations);
  else
    for (const Sizes& sizes : sizes_of(kind)) add(sweep_of(kind, sizes), operations);
  return operations;
}

}  // namespace hone::profiler
