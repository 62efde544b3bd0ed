// Default shapes, generated if the command line names none.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/ranges.h"
#include "profiler/sweep.h"

namespace hone::profiler {
namespace {

using Sizes = std::array<std::int64_t, 4>;  // batch, m, n, k

// Three products of the old tool, and its shapes for a split K and for batches.
constexpr Sizes kMatmuls[] = {{1, 256, 512, 128}, {1, 2560, 2560, 2560}, {1, 3456, 1024, 2048}};
constexpr Sizes kSplitK[] = {{1, 128, 128, 12288}};
constexpr Sizes kBatches[] = {{16, 512, 64, 512}};
// Feed-forward layer of BERT-base, 128 tokens.
constexpr Sizes kFused[] = {{1, 128, 3072, 768}};
// Self-attention of BERT-base over 512 tokens, and of Stable Diffusion XL's UNet at 64 x 64.
constexpr Sizes kAttentions[] = {{12, 512, 512, 64}, {20, 4096, 4096, 64}};

// ResNet-50's 3 x 3 convolutions on inputs that are padded already, and a strided 1 x 1; two of
// Stable Diffusion XL's UNet.
struct ConvShape {
  std::int64_t images, size, channels, filters, filter, stride;
};
constexpr ConvShape kConvolutions[] = {{1, 58, 64, 64, 3, 1},   {1, 30, 128, 128, 3, 1},
                                       {1, 16, 256, 256, 3, 1}, {1, 56, 256, 512, 1, 2},
                                       {2, 66, 320, 320, 3, 1}, {2, 34, 640, 640, 3, 1}};

std::span<const Sizes> sizes_of(NamedOperationKind kind) {
  switch (kind) {
    case kMatmul:
      return kMatmuls;
    case kSplitKMatmul:
      return kSplitK;
    case kBatchMatmul:
      return kBatches;
    case kAttention:
      return kAttentions;
    default:
      return kFused;
  }
}

Sweep with_extents(Sweep sweep, NamedOperationKind kind, const Sizes& sizes) {
  sweep.extents = {{"m", {sizes[1]}}, {"n", {sizes[2]}}, {"k", {sizes[3]}}};
  const auto names = extent_names_of(kind);
  if (std::ranges::find(names, "batch") != names.end()) sweep.extents["batch"] = {sizes[0]};
  return sweep;
}

Sweep with_extents(Sweep sweep, const ConvShape& shape) {
  sweep.extents = {{"images", {shape.images}},       {"height", {shape.size}},
                   {"width", {shape.size}},          {"channels", {shape.channels}},
                   {"filters", {shape.filters}},     {"filter_height", {shape.filter}},
                   {"filter_width", {shape.filter}}, {"stride", {shape.stride}}};
  return sweep;
}

bool gives(const Sweep& sweep, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const auto* const found = value_at(sweep.extents, name);
    return found != nullptr && !found->empty();
  });
}

std::vector<NamedOperationKind> kinds_of(const Sweep& sweep) {
  if (!sweep.kinds.empty()) return sweep.kinds;
  if (!gives(sweep, extent_names())) return {kOperationKinds.begin(), kOperationKinds.end()};
  std::vector<NamedOperationKind> kinds;
  const bool slices = gives(sweep, {"split_k_slices"});
  const bool batch = gives(sweep, {"batch"});
  if (!slices && !batch && gives(sweep, {"m", "n", "k"})) kinds.push_back(kMatmul);
  if (slices) kinds.push_back(kSplitKMatmul);
  if (batch) kinds.push_back(kBatchMatmul);
  if (gives(sweep, extent_names_of(kConv2d))) kinds.push_back(kConv2d);
  return kinds;
}

Status check_extents_taken(const Sweep& sweep, const std::vector<NamedOperationKind>& kinds) {
  for (const auto& [name, values] : sweep.extents) {
    const auto takes = [&](NamedOperationKind kind) {
      const auto names = extent_names_of(kind);
      return std::ranges::find(names, name) != names.end();
    };
    if (values.empty() || std::ranges::any_of(kinds, takes)) continue;
    std::vector<std::string_view> texts;
    for (const NamedOperationKind kind : kinds) texts.push_back(name_of(kind));
    return input_error("{} is no dimension of {}", name, fmt::join(texts, ", "));
  }
  return {};
}

}  // namespace

Result<std::vector<NamedOperation>> chosen_operations(const Sweep& sweep) {
  const std::vector<NamedOperationKind> kinds = kinds_of(sweep);
  HONE_TRY(check_extents_taken(sweep, kinds));
  std::vector<NamedOperation> operations;
  // Adds the operations of one kind. Of several kinds, drops the types that this one does not take.
  const auto add = [&](Sweep own, NamedOperationKind kind) -> Status {
    own.kinds = {kind};
    if (kinds.size() > 1 && !own.types.empty()) {
      std::erase_if(own.types, [kind](const Types& types) {
        NamedOperation operation;
        operation.kind = kind;
        operation.lhs = types[0], operation.rhs = types[1], operation.result = types[2];
        return !takes_types(operation);
      });
      if (own.types.empty()) return {};
    }
    HONE_ASSIGN(const auto more, operations_of(own));
    operations.insert(operations.end(), more.begin(), more.end());
    return {};
  };
  for (const NamedOperationKind kind : kinds) {
    const std::vector<std::string> names = extent_names_of(kind);
    if (gives(sweep, names)) {
      Sweep own = sweep;
      std::erase_if(own.extents, [&](const auto& each) {
        return std::ranges::find(names, each.first) == names.end();
      });
      HONE_TRY(add(std::move(own), kind));
    } else if (is_convolution(kind)) {
      for (const ConvShape& shape : kConvolutions) HONE_TRY(add(with_extents(sweep, shape), kind));
    } else {
      for (const Sizes& sizes : sizes_of(kind))
        HONE_TRY(add(with_extents(sweep, kind, sizes), kind));
    }
  }
  return operations;
}

}  // namespace hone::profiler
