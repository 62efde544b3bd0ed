#include "provider/triton/contraction_space.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "provider/triton/gemm_rules.h"
#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

// Whether the operand's elements lie side by side along a loop of this role.
bool is_dense_along(const nlohmann::json& operand, const nlohmann::json& loops,
                    std::string_view role) {
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].at("role") == role && operand.at("strides")[l] == 1) return true;
  return false;
}

Result<problem::ElementType> element_of(const nlohmann::json& said) {
  const auto name = said.at("type").get<std::string>();
  const auto type = problem::element_type_from(name);
  if (!type) return input_error("Triton has no kernel for {}", name);
  return *type;
}

// Throws nlohmann::json's exceptions for what is no such document.
Result<Gemm> read_product(const nlohmann::json& stated) {
  const nlohmann::json& loops = stated.at("loops");
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 1;
  const std::map<std::string, std::int64_t*> sizes{
      {"batch", &gemm.batch}, {"m", &gemm.m}, {"n", &gemm.n}, {"k", &gemm.k}};
  for (const nlohmann::json& loop : loops)
    *sizes.at(loop.at("role").get<std::string>()) *= loop.at("size").get<std::int64_t>();
  gemm.a_rows = is_dense_along(stated.at("lhs"), loops, "k");
  gemm.b_rows = is_dense_along(stated.at("rhs"), loops, "n");
  gemm.c_rows = is_dense_along(stated.at("stores").at(0), loops, "n");
  HONE_ASSIGN(gemm.a, element_of(stated.at("lhs")));
  HONE_ASSIGN(gemm.b, element_of(stated.at("rhs")));
  HONE_ASSIGN(gemm.c, element_of(stated.at("stores").at(0)));
  // A vector is padded to a block of rows or columns: a step of decoding waits for its weights to
  // be read, not for products.
  if (std::max(gemm.m, gemm.n) < kLeastSize || gemm.k < kLeastSize)
    return input_error("a product of {} x {} x {} is too small for matrix instructions", gemm.m,
                       gemm.n, gemm.k);
  if (gemm.a != gemm.b) return input_error("its operands differ in type");
  return gemm;
}

}  // namespace

Result<Gemm> product_of(const problem::Dispatch& dispatch) {
  try {
    return read_product(nlohmann::json::parse(dispatch.statement));
  } catch (const std::exception& error) {
    return input_error("what is stated of '{}' cannot be read: {}", dispatch.name, error.what());
  }
}

space::SpaceBuilder contraction_space_builder(const Gemm& gemm, const GemmDevice& device) {
  space::SpaceBuilder builder;
  // What the GEMM kernels' rules speak of and this kernel does not have is a number.
  const GemmKnobs knobs{
      .structure = kBlocked,
      .block_m = builder.knob("BLOCK_M", "rows of a tile", {16, 32, 64, 128, 256}),
      .block_n = builder.knob("BLOCK_N", "columns of a tile", {16, 32, 64, 128, 256}),
      .block_k = builder.knob("BLOCK_K", "depth of a step", {16, 32, 64, 128}),
      .group_m = builder.knob("GROUP_M", "rows of tiles that are walked together", {1, 4, 8}),
      .split_k = 1,
      .per_unit = 1,
      .split_store = 0,
      .more_n = 0,
      .swap = 0,
      .warps = builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      .stages = builder.knob("num_stages", "stages of the pipeline along k", {2, 3, 4, 5, 6}),
      .waves = 0,
      .nonkdim = 0};
  const GemmRules rules{gemm, device, knobs};
  rules.add_hard(builder);
  rules.add_soft(builder);
  return builder;
}

}  // namespace hone::triton
