#include "provider/triton/contraction_space.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "provider/triton/gemm_rules.h"
#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

using space::Value;

constexpr std::int64_t kMostUnrolled = 4096;

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

// The stride of an operand along the loops of a role walked as one, 0 where there are none. Nothing
// where they cannot be.
std::optional<std::int64_t> merged_stride(const nlohmann::json& operand,
                                          const nlohmann::json& loops, std::string_view role) {
  std::optional<std::int64_t> stride;
  std::int64_t size = 1;
  for (std::size_t l = loops.size(); l-- > 0;) {
    const auto loop_size = loops[l].at("size").get<std::int64_t>();
    if (loops[l].at("role") != role || loop_size == 1) continue;
    const auto step = operand.at("strides")[l].get<std::int64_t>();
    if (stride && step != *stride * size) return std::nullopt;
    if (!stride) stride = step;
    size *= loop_size;
  }
  return stride.value_or(0);
}

// Whether an operand is a matrix that tensor descriptors take: dense along k or the role, whatever
// it is launched with.
bool is_matrix_for_descriptors(const nlohmann::json& stated, const nlohmann::json& operand,
                               std::string_view role, std::int64_t element_bytes) {
  const nlohmann::json& loops = stated.at("loops");
  const auto across = merged_stride(operand, loops, role);
  const auto along = merged_stride(operand, loops, "k");
  if (!across || !along || std::min(*across, *along) != 1) return false;
  const nlohmann::json& view = stated.at("views").at(operand.at("view").get<std::size_t>());
  std::int64_t begins =
      std::gcd(view.at("offset").get<std::int64_t>(), view.at("multiple").get<std::int64_t>());
  begins = std::gcd(begins, operand.at("offset").get<std::int64_t>() * element_bytes);
  begins = std::gcd(begins, std::max(*across, *along) * element_bytes);
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].at("role") == "batch")
      begins = std::gcd(begins, operand.at("strides")[l].get<std::int64_t>() * element_bytes);
  return begins % kDescriptorBytes == 0;
}

// Instructions of a thread for one element, seen in Triton's code for sm_90; of those that PTX has
// one for, what the machine makes of it.
std::int64_t instructions_of(const std::string& operation) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kSeveral{
      {{"math.erf", 33},
       {"math.log", 32},
       {"math.tanh", 18},
       {"math.exp", 10},
       {"math.exp2", 10},
       {"math.sin", 95},
       {"math.cos", 95},
       {"math.sqrt", 10},
       {"math.rsqrt", 4},
       {"arith.divf", 10}}};
  if (operation == "root" || operation == "load" || operation == "table") return 0;
  const auto* found =
      std::ranges::find(kSeveral, operation, &decltype(kSeveral)::value_type::first);
  return found == kSeveral.end() ? 1 : found->second;
}

// Throws nlohmann::json's exceptions for what is no such document.
Result<StatedProduct> read_product(const nlohmann::json& stated) {
  const nlohmann::json& loops = stated.at("loops");
  StatedProduct product;
  Gemm& gemm = product.gemm;
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
  const auto is_matrix = [&](const char* operand, std::string_view role) {
    return is_matrix_for_descriptors(stated, stated.at(operand), role, problem::byte_size(gemm.a));
  };
  product.matrices = is_matrix("lhs", "m") && is_matrix("rhs", "n");
  for (const nlohmann::json& value : stated.at("values"))
    product.behind += instructions_of(value.at("op").get<std::string>());
  return product;
}

}  // namespace

Result<StatedProduct> stated_product(const problem::Dispatch& dispatch) {
  try {
    return read_product(nlohmann::json::parse(dispatch.statement));
  } catch (const std::exception& error) {
    return input_error("what is stated of '{}' cannot be read: {}", dispatch.name, error.what());
  }
}

space::SpaceBuilder contraction_space_builder(const StatedProduct& product,
                                              const GemmDevice& device) {
  space::SpaceBuilder builder;
  const Gemm& gemm = product.gemm;
  const bool descriptors = product.matrices && device.capability() >= 90;
  const space::Expression structure =
      builder.knob("STRUCTURE",
                   "kernel: 0 a program for each tile, 4 programs that walk the tiles, with tensor "
                   "descriptors, 5 a program for each tile, with descriptors",
                   descriptors ? std::vector<Value>{kBlocked, kPersistent, kTilesTma}
                               : std::vector<Value>{kBlocked});
  // What the GEMM kernels' rules speak of and this kernel does not have is a number. It writes its
  // tiles without descriptors, as those rules know it of the blocked kernel; only one that walks
  // the tiles has room for them beside its buffers.
  const GemmKnobs knobs{
      .structure = ite(structure == kPersistent, kPersistent, kBlocked),
      .block_m = builder.knob("BLOCK_M", "rows of a tile", {16, 32, 64, 128, 256}),
      .block_n = builder.knob("BLOCK_N", "columns of a tile", {16, 32, 64, 128, 256}),
      .block_k = builder.knob("BLOCK_K", "depth of a step", {16, 32, 64, 128}),
      .group_m = builder.knob("GROUP_M", "rows of tiles that are walked together", {1, 4, 8}),
      .split_k =
          builder.knob("SPLIT_K", "parts of k", {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32}),
      .per_unit = builder.knob("PER_UNIT", "programs of a multiprocessor that walk the tiles",
                               descriptors ? std::vector<Value>{1, 2} : std::vector<Value>{1}),
      .split_store = 0,
      .more_n = builder.knob("MORE_N", "columns of a second block beside that of BLOCK_N",
                             descriptors ? std::vector<Value>{0, 32, 64} : std::vector<Value>{0}),
      .swap = 0,
      .warps = builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      .stages = builder.knob("num_stages", "stages of the pipeline along k", {2, 3, 4, 5, 6}),
      .waves = 0,
      .nonkdim = 0};
  const GemmRules rules{gemm, device, knobs};
  rules.same_again(builder);
  rules.memory(builder);
  builder.require("split_k_structure", "programs that walk the tiles do not split k",
                  knobs.split_k == 1 || structure != kPersistent);
  builder.require("split_k_parts", "a part of k is at least one step; there are {}",
                  knobs.split_k <= rules.steps(), {rules.steps()});
  builder.require("per_unit_structure", "PER_UNIT is for programs that walk the tiles",
                  knobs.per_unit == 1 || structure == kPersistent);
  builder.require("more_n_structure", "a second block is for tensor descriptors, without SPLIT_K",
                  knobs.more_n == 0 || (structure != kBlocked && knobs.split_k == 1));
  builder.require("more_n_least", "MORE_N is less than BLOCK_N", knobs.more_n < knobs.block_n);
  builder.require("tiles_to_walk", "{} tiles are no more than one for each of {} units",
                  structure != kPersistent || rules.tiles() > device.units,
                  {rules.tiles(), device.units});
  const space::Expression scratch =
      rules.tiles() * gemm.batch * knobs.block_m * knobs.block_n * 4 * knobs.split_k;
  builder.require("scratch", "the sums of all parts take {} bytes; there may be {}",
                  knobs.split_k == 1 || scratch <= kMostScratchBytes, {scratch, kMostScratchBytes});
  rules.add_soft(builder);
  // Every element of a tile has its own: the compiler takes seconds for them, and an instruction
  // cache holds few thousand.
  const space::Expression unrolled = rules.accumulators() * product.behind;
  builder.prefer("unrolled_behind",
                 "what is computed behind the sums is unrolled to {} instructions of a thread",
                 unrolled <= kMostUnrolled, {unrolled});
  return builder;
}

}  // namespace hone::triton
