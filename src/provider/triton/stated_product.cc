#include "provider/triton/stated_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "provider/triton/gemm_device.h"
#include "provider/triton/gemm_rules.h"

namespace hone::triton {
namespace {

using nlohmann::json;

// Dimensions of a tensor descriptor (CUDA driver API, cuTensorMapEncodeTiled).
constexpr std::size_t kMostDimensions = 5;

// Whether the operand's elements lie side by side along a loop of this role.
bool is_dense_along(const json& operand, const json& loops, std::string_view role) {
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].at("role") == role && operand.at("strides")[l] == 1) return true;
  return false;
}

Result<problem::ElementType> element_of(const json& said) {
  const auto name = said.at("type").get<std::string>();
  const auto type = problem::element_type_from(name);
  if (!type) return input_error("Triton has no kernel for {}", name);
  return *type;
}

// A group of loops that all operands walk as one, and each operand's stride along it.
struct Dimension {
  std::int64_t size = 1;
  std::vector<std::int64_t> strides;
};

// Dimensions of a role, outermost first. Neighbours that all operands walk as one loop are joined.
std::vector<Dimension> dimensions(const json& loops, std::string_view role,
                                  std::span<const json* const> operands) {
  std::vector<Dimension> found;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    Dimension inner{loops[l].at("size").get<std::int64_t>(), {}};
    if (loops[l].at("role") != role || inner.size == 1) continue;
    for (const json* operand : operands)
      inner.strides.push_back(operand->at("strides")[l].get<std::int64_t>());
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
bool is_described(const json& stated, const json& operand, std::size_t number,
                  const std::vector<Dimension>& own, const std::vector<Dimension>& k,
                  std::int64_t element_bytes) {
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
  const json& view = stated.at("views").at(operand.at("view").get<std::size_t>());
  std::int64_t begins =
      std::gcd(view.at("offset").get<std::int64_t>(), view.at("multiple").get<std::int64_t>());
  begins = std::gcd(begins, operand.at("offset").get<std::int64_t>() * element_bytes);
  for (const std::int64_t row : rows) begins = std::gcd(begins, row * element_bytes);
  const json& loops = stated.at("loops");
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].at("role") == "batch")
      begins = std::gcd(begins, operand.at("strides")[l].get<std::int64_t>() * element_bytes);
  return begins % kDescriptorBytes == 0;
}

void find_descriptors(const json& stated, StatedProduct& product) {
  const json& loops = stated.at("loops");
  const json &lhs = stated.at("lhs"), &rhs = stated.at("rhs");
  const std::array<const json*, 2> both{&lhs, &rhs};
  const std::int64_t bytes = problem::byte_size(product.gemm.a);
  const std::vector<Dimension> k = dimensions(loops, "k", both);
  const std::vector<Dimension> m = dimensions(loops, "m", std::span(both).first(1));
  const std::vector<Dimension> n = dimensions(loops, "n", std::span(both).last(1));
  std::int64_t last = 0;
  for (std::size_t l = 0; l < loops.size(); ++l)
    last += std::abs(lhs.at("strides")[l].get<std::int64_t>()) *
            (loops[l].at("size").get<std::int64_t>() - 1);
  product.first_elements = std::min(last + 1, product.gemm.batch * product.gemm.m * product.gemm.k);
  product.descriptors = n.size() == 1 && is_described(stated, lhs, 0, m, k, bytes) &&
                        is_described(stated, rhs, 1, n, k, bytes);
  if (k.size() > 1) product.tap = inner_of(k).size;
  if (m.size() == 1) return;
  // Matrix instructions for other types cannot take both operands in their layout in shared memory.
  product.descriptors &= bytes == 2;
  for (const Dimension& each : m) product.image.push_back(each.size);
}

// Throws nlohmann::json's exceptions for a malformed document.
Result<StatedProduct> read_product(const json& stated) {
  const json& loops = stated.at("loops");
  StatedProduct product;
  Gemm& gemm = product.gemm;
  gemm.m = gemm.n = gemm.k = 1;
  const std::map<std::string, std::int64_t*> sizes{
      {"batch", &gemm.batch}, {"m", &gemm.m}, {"n", &gemm.n}, {"k", &gemm.k}};
  for (const json& loop : loops)
    *sizes.at(loop.at("role").get<std::string>()) *= loop.at("size").get<std::int64_t>();
  gemm.a_rows = is_dense_along(stated.at("lhs"), loops, "k");
  gemm.b_rows = is_dense_along(stated.at("rhs"), loops, "n");
  gemm.c_rows = is_dense_along(stated.at("stores").at(0), loops, "n");
  HONE_ASSIGN(gemm.a, element_of(stated.at("lhs")));
  HONE_ASSIGN(gemm.b, element_of(stated.at("rhs")));
  HONE_ASSIGN(gemm.c, element_of(stated.at("stores").at(0)));
  // Vectors are padded to a block of rows or columns: a decoding step waits for its weights to be
  // read, not for products.
  if (std::max(gemm.m, gemm.n) < kLeastSize || gemm.k < kLeastSize)
    return input_error("a product of {} x {} x {} is too small for matrix instructions", gemm.m,
                       gemm.n, gemm.k);
  if (gemm.a != gemm.b) return input_error("its operands differ in type");
  find_descriptors(stated, product);
  for (const json& value : stated.at("values"))
    product.behind += problem::scalar_facts(value.at("op").get<std::string>()).gpu_instructions;
  return product;
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

}  // namespace

Result<StatedProduct> stated_product(const problem::Dispatch& dispatch) {
  try {
    return read_product(nlohmann::json::parse(dispatch.statement));
  } catch (const std::exception& error) {
    return input_error("the statement of '{}' cannot be read: {}", dispatch.name, error.what());
  }
}

std::int64_t image_tiles(const std::vector<std::int64_t>& image, std::int64_t block,
                         std::int64_t more) {
  return fewest_tiles(image, block, block, more, more == 0);
}

}  // namespace hone::triton
