#include "provider/triton/stated_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "provider/triton/gemm_device.h"
#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

using problem::LoopRole;
using problem::StatedUse;
using problem::Statement;

// Dimensions of a tensor descriptor (CUDA driver API, cuTensorMapEncodeTiled).
constexpr std::size_t kMostDimensions = 5;

// Products of which a program keeps all sums in registers.
constexpr std::int64_t kMostJoined = 3;

// Whether the operand's elements lie side by side along a loop of this role.
bool is_dense_along(const StatedUse& operand, const Statement& stated, LoopRole role) {
  for (std::size_t l = 0; l < stated.loops.size(); ++l)
    if (stated.loops[l].role == role && operand.strides[l] == 1) return true;
  return false;
}

// A group of loops that all operands walk as one, and each operand's stride along it.
struct Dimension {
  std::int64_t size = 1;
  std::vector<std::int64_t> strides;
};

// Dimensions of a role, outermost first. Neighbours that all operands walk as one loop are joined.
std::vector<Dimension> dimensions(const Statement& stated, LoopRole role,
                                  std::span<const StatedUse> operands) {
  std::vector<Dimension> found;
  for (std::size_t l = 0; l < stated.loops.size(); ++l) {
    Dimension inner{stated.loops[l].size, {}};
    if (stated.loops[l].role != role || inner.size == 1) continue;
    for (const StatedUse& operand : operands) inner.strides.push_back(operand.strides[l]);
    const auto is_one = [&](std::int64_t outer, std::int64_t stride) {
      return outer == stride * inner.size;
    };
    if (!found.empty() && std::ranges::equal(found.back().strides, inner.strides, is_one)) {
      inner.size *= found.back().size;
      found.pop_back();
    }
    found.push_back(std::move(inner));
  }
  if (found.empty()) found.push_back({1, std::vector<std::int64_t>(operands.size(), 0)});
  return found;
}

// The dimension of k that steps go along (python/contraction.py): one in which an operand's
// elements lie side by side, and of these the longest.
const Dimension& inner_of(const std::vector<Dimension>& k) {
  const auto size_of_step = [](const Dimension& each) {
    const bool dense = std::ranges::find(each.strides, 1) != each.strides.end();
    return std::pair(dense && each.size >= kLeastSize, each.size);
  };
  return *std::ranges::max_element(k, {}, size_of_step);
}

// Whether tensor descriptors load the operand in every configuration. `number`: its place in the
// strides of `k`; `own`: the dimensions of its other role.
bool is_described(const Statement& stated, const StatedUse& operand, std::size_t number,
                  const std::vector<Dimension>& own, const std::vector<Dimension>& k) {
  const std::int64_t element_bytes = problem::byte_size(operand.type);
  const std::int64_t along = inner_of(k).strides[number];
  std::vector<std::int64_t> rows;
  for (const Dimension& each : own) rows.push_back(each.strides[0]);
  if (along != 1) {
    if (rows != std::vector<std::int64_t>{1}) return false;
    rows = {along};
  }
  if (rows.size() >= kMostDimensions || std::ranges::min(rows) <= 0) return false;
  for (const Dimension& each : k)
    if (each.strides[number] < 0) return false;
  const problem::StatedView& view = stated.views[operand.view];
  std::int64_t begins = std::gcd(view.offset, view.multiple);
  begins = std::gcd(begins, operand.offset * element_bytes);
  for (const std::int64_t row : rows) begins = std::gcd(begins, row * element_bytes);
  for (std::size_t l = 0; l < stated.loops.size(); ++l)
    if (stated.loops[l].role == LoopRole::kBatch)
      begins = std::gcd(begins, operand.strides[l] * element_bytes);
  return begins % kDescriptorBytes == 0;
}

void find_descriptors(const Statement& stated, StatedProduct& product) {
  const std::span<const StatedUse> both(stated.operands.begin(), 2);
  const std::vector<Dimension> k = dimensions(stated, LoopRole::kK, both);
  const std::vector<Dimension> m = dimensions(stated, LoopRole::kM, both.first(1));
  const std::vector<Dimension> n = dimensions(stated, LoopRole::kN, both.last(1));
  std::int64_t last = 0;
  for (std::size_t l = 0; l < stated.loops.size(); ++l)
    last += std::abs(both[0].strides[l]) * (stated.loops[l].size - 1);
  product.first_at_once =
      problem::loaded_at_once(stated, both[0], kDescriptorBytes / problem::byte_size(both[0].type));
  product.first_elements = std::min(last + 1, product.gemm.batch * product.gemm.m * product.gemm.k);
  product.descriptors =
      n.size() == 1 && is_described(stated, both[0], 0, m, k) &&
      std::all_of(stated.operands.begin() + 1, stated.operands.end(),
                  [&](const StatedUse& right) { return is_described(stated, right, 1, n, k); });
  if (k.size() > 1) product.tap = inner_of(k).size;
  if (m.size() == 1) return;
  // Matrix instructions for other types cannot take both operands in their layout in shared memory.
  product.descriptors &= problem::byte_size(product.gemm.a) == 2;
  for (const Dimension& each : m) product.image.push_back(each.size);
}

// Tiles where the dimensions from `place` on share `pixels` pixels of a box, one of them a box of
// `more` for each `block` behind it unless `behind` is known to be another.
std::int64_t fewest_tiles(std::span<const std::int64_t> image, std::int64_t pixels,
                          std::int64_t block, std::int64_t more, bool behind) {
  if (image.empty()) return pixels == 1 && behind ? 1 : INT64_MAX;
  std::int64_t fewest = INT64_MAX;
  const auto try_extent = [&](std::int64_t extent, std::int64_t tile, bool now_behind) {
    const std::int64_t rest =
        fewest_tiles(image.subspan(1), pixels / extent, block, more, now_behind);
    if (rest != INT64_MAX) fewest = std::min(fewest, rest * ((image[0] + tile - 1) / tile));
  };
  for (std::int64_t extent = 1; extent <= pixels; extent *= 2) {
    try_extent(extent, extent, behind);
    if (!behind && extent * more % block == 0)
      try_extent(extent, extent * (block + more) / block, true);
  }
  return fewest;
}

// Whether each result is of one product, which a program can compute without the others.
bool are_apart(const Statement& stated) {
  std::vector<std::set<std::size_t>> products;  // that each value is of
  for (const problem::StatedValue& value : stated.values) {
    std::set<std::size_t>& own = products.emplace_back();
    if (value.operation.is(problem::ScalarKind::kRoot)) own.insert(value.product);
    for (const std::size_t operand : value.operands)
      own.insert(products[operand].begin(), products[operand].end());
  }
  return std::ranges::all_of(stated.stores, [&](const problem::StatedStore& store) {
    return products[store.value].size() == 1;
  });
}

}  // namespace

Result<StatedProduct> stated_product(const Statement& stated) {
  const StatedUse &lhs = stated.operands[0], &rhs = stated.operands[1],
                  &result = stated.stores[0].use;
  StatedProduct product;
  Gemm& gemm = product.gemm;
  gemm.batch = stated.steps(LoopRole::kBatch);
  gemm.m = stated.steps(LoopRole::kM);
  gemm.n = stated.steps(LoopRole::kN);
  gemm.k = stated.steps(LoopRole::kK);
  gemm.a_rows = is_dense_along(lhs, stated, LoopRole::kK);
  gemm.b_rows = is_dense_along(rhs, stated, LoopRole::kN);
  gemm.c_rows = is_dense_along(result, stated, LoopRole::kN);
  gemm.a = lhs.type;
  gemm.b = rhs.type;
  gemm.c = result.type;
  // Vectors are padded to a block of rows or columns: a decoding step waits for its weights to be
  // read, not for products.
  if (std::max(gemm.m, gemm.n) < kLeastSize || gemm.k < kLeastSize)
    return input_error("a product of {} x {} x {} is too small for matrix instructions", gemm.m,
                       gemm.n, gemm.k);
  if (gemm.a != gemm.b) return input_error("its operands differ in type");
  find_descriptors(stated, product);
  for (const problem::StatedValue& value : stated.values)
    product.behind += value.operation.facts().gpu_instructions;
  product.products = static_cast<std::int64_t>(stated.products());
  if (product.products == 1) return product;
  product.joined = !are_apart(stated);
  if (product.joined) {
    if (product.products > kMostJoined)
      return input_error("a result of it is made of {} products", product.products);
    gemm.n *= product.products;
  } else {
    gemm.batch *= product.products;
    product.behind /= product.products;
  }
  return product;
}

std::int64_t image_tiles(const std::vector<std::int64_t>& image, std::int64_t block,
                         std::int64_t more) {
  return fewest_tiles(image, block, block, more, more == 0);
}

}  // namespace hone::triton
