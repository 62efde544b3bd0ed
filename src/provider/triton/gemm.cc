#include "provider/triton/gemm.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

namespace hone::triton {
namespace {

using problem::ElementType;
using problem::Loop;
using problem::LoopRole;

// Offsets inside a tile, and on AMD whole operands (tt.pointer_range), are 32-bit.
constexpr std::int64_t kMaximumElements = (std::int64_t{1} << 31) - 1;

// NVIDIA A100 Tensor Core GPU Architecture whitepaper: 10 bits behind the point.
constexpr int kTf32Digits = 11;

std::vector<std::int64_t> shape(const Gemm& gemm, std::int64_t rows, std::int64_t columns,
                                bool by_rows) {
  if (!by_rows) std::swap(rows, columns);
  if (gemm.batch == 1) return {rows, columns};
  return {gemm.batch, rows, columns};
}

// Loops are (batch,) m, n, k.
problem::Operand operand(const Gemm& gemm, ElementType element, bool by_rows, int rows,
                         int columns) {
  const int first = gemm.batch == 1 ? 0 : 1;
  const std::int64_t sizes[] = {gemm.m, gemm.n, gemm.k};
  problem::Operand operand;
  operand.type = {element, shape(gemm, sizes[rows], sizes[columns], by_rows)};
  if (first == 1) operand.loops.push_back(0);
  operand.loops.push_back(first + (by_rows ? rows : columns));
  operand.loops.push_back(first + (by_rows ? columns : rows));
  return operand;
}

problem::Binding binding(const problem::TensorType& type, problem::Access access,
                         problem::BindingUse use) {
  return {access, use, type, problem::byte_size(type)};
}

bool is_eight_bit_float(ElementType type) {
  return problem::is_float(type) && problem::byte_size(type) == 1;
}

}  // namespace

ElementType accumulator(const Gemm& gemm) {
  return problem::is_float(gemm.a) ? ElementType::kF32 : ElementType::kI32;
}

Status check(const Gemm& gemm) {
  const auto name = [](ElementType type) { return problem::name_of(type); };
  for (const auto& [size, what] :
       {std::pair(gemm.m, "m"), {gemm.n, "n"}, {gemm.k, "k"}, {gemm.batch, "the batch"}})
    if (size < 1) return input_error("{} is {}; it must be at least 1", what, size);
  for (const auto& [rows, columns, what] :
       {std::tuple(gemm.m, gemm.k, "A"), {gemm.k, gemm.n, "B"}, {gemm.m, gemm.n, "C"}})
    if (rows > kMaximumElements || columns > kMaximumElements / rows / gemm.batch)
      return input_error("{} has {} x {} elements, {} of them; the kernels take fewer than 2^31",
                         what, rows, columns, gemm.batch);
  const bool mixed = is_eight_bit_float(gemm.a) && is_eight_bit_float(gemm.b);
  if (gemm.a != gemm.b && !mixed)
    return input_error("A is {} and B is {}; they must be of one type, or both 8-bit floats",
                       name(gemm.a), name(gemm.b));
  const bool taken =
      gemm.a == ElementType::kI8 || (problem::is_float(gemm.a) && gemm.a != ElementType::kF64);
  if (!taken)
    return input_error("A and B are {}; the kernels take f16, bf16, f32, f8E4M3FN, f8E5M2, i8",
                       name(gemm.a));
  if (problem::is_float(gemm.c) != problem::is_float(gemm.a))
    return input_error("C is {}, its sums are {}", name(gemm.c), name(accumulator(gemm)));
  if (gemm.tf32 && gemm.a != ElementType::kF32)
    return input_error("tf32 is for operands of f32, not {}", name(gemm.a));
  return {};
}

std::string name_of(const Gemm& gemm) {
  std::string name =
      fmt::format("gemm_{}x{}x{}_{}_{}_{}_{}{}", gemm.m, gemm.n, gemm.k, problem::name_of(gemm.a),
                  problem::name_of(gemm.b), problem::name_of(gemm.c), gemm.a_rows ? 'n' : 't',
                  gemm.b_rows ? 'n' : 't');
  if (!gemm.c_rows) name += "_ct";
  if (gemm.batch != 1) name += fmt::format("_b{}", gemm.batch);
  if (gemm.bias) name += "_bias";
  if (gemm.tf32) name += "_tf32";
  return name;
}

problem::Dispatch dispatch_of(const Gemm& gemm) {
  using problem::Access;
  using problem::BindingUse;
  problem::Dispatch dispatch;
  dispatch.name = dispatch.executable = name_of(gemm);
  dispatch.source = nlohmann::json(gemm).dump();
  problem::Operation& root = dispatch.root;
  root.kind =
      gemm.batch == 1 ? problem::OperationKind::kMatmul : problem::OperationKind::kBatchMatmul;
  root.name = "gemm";
  if (gemm.batch != 1) root.loops.push_back({false, gemm.batch, LoopRole::kBatch});
  root.loops.push_back({false, gemm.m, LoopRole::kM});
  root.loops.push_back({false, gemm.n, LoopRole::kN});
  root.loops.push_back({true, gemm.k, LoopRole::kK});
  root.operands = {operand(gemm, gemm.a, gemm.a_rows, 0, 2),
                   operand(gemm, gemm.b, gemm.b_rows, 2, 1),
                   operand(gemm, accumulator(gemm), gemm.c_rows, 0, 1)};
  root.operands.back().output = true;
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.plain_epilogue = true;
  dispatch.bindings = {binding(root.operands[0].type, Access::kReadOnly, BindingUse::kRootInput),
                       binding(root.operands[1].type, Access::kReadOnly, BindingUse::kRootInput)};
  if (gemm.bias) {
    dispatch.bindings.push_back(
        binding({*gemm.bias, {gemm.n}}, Access::kReadOnly, BindingUse::kFusedInput));
    dispatch.fused.push_back("elementwise(arith.addf)");
  }
  problem::TensorType c = root.operands[2].type;
  c.element = gemm.c;
  dispatch.bindings.push_back(binding(c, Access::kWriteOnly, BindingUse::kOutput));
  if (gemm.c != accumulator(gemm)) dispatch.fused.push_back("elementwise(arith.truncf)");
  const bool bare = dispatch.fused.size() == 1;
  dispatch.root_bindings = {0, 1, bare ? 2 : -1};
  dispatch.launches_per_call = 1;
  if (gemm.tf32) dispatch.operand_digits = kTf32Digits;
  return dispatch;
}

void to_json(nlohmann::json& json, const Gemm& gemm) {
  json = {{"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"batch", gemm.batch},
          {"a_rows", gemm.a_rows},
          {"b_rows", gemm.b_rows},
          {"c_rows", gemm.c_rows},
          {"a", gemm.a},
          {"b", gemm.b},
          {"c", gemm.c},
          {"bias", gemm.bias ? problem::name_of(*gemm.bias) : ""},
          {"accumulate", accumulator(gemm)},
          {"precision", gemm.tf32 ? "tf32" : "ieee"}};
}

Result<Gemm> gemm_of(const problem::Dispatch& dispatch) {
  const auto json = nlohmann::json::parse(dispatch.source, nullptr, false);
  const auto no_gemm = [&] { return input_error("'{}' is no GEMM of Triton's", dispatch.name); };
  if (!json.is_object()) return no_gemm();
  Gemm gemm;
  try {
    for (const auto& [key, element] : {std::pair("a", &gemm.a), {"b", &gemm.b}, {"c", &gemm.c}})
      json.at(key).get_to(*element);
    gemm.bias = problem::element_type_from(json.at("bias").get<std::string>());
    for (const auto& [key, size] :
         {std::pair("m", &gemm.m), {"n", &gemm.n}, {"k", &gemm.k}, {"batch", &gemm.batch}})
      json.at(key).get_to(*size);
    for (const auto& [key, rows] :
         {std::pair("a_rows", &gemm.a_rows), {"b_rows", &gemm.b_rows}, {"c_rows", &gemm.c_rows}})
      json.at(key).get_to(*rows);
    gemm.tf32 = json.at("precision") == "tf32";
  } catch (const nlohmann::json::exception&) {
    return no_gemm();
  }
  return gemm;
}

namespace {

using problem::ElementType;

constexpr std::array<std::pair<std::string_view, ElementType>, 7> kNames{{
    {"fp16", ElementType::kF16},
    {"bf16", ElementType::kBF16},
    {"fp32", ElementType::kF32},
    {"fp8", ElementType::kF8E4M3},
    {"bf8", ElementType::kF8E5M2},
    {"int8", ElementType::kI8},
    {"int32", ElementType::kI32},
}};

}  // namespace

std::optional<ElementType> type_from_tune_gemm(std::string_view name) {
  for (const auto& [theirs, type] : kNames)
    if (theirs == name || problem::name_of(type) == name) return type;
  return std::nullopt;
}

std::string_view tune_gemm_name_of(ElementType type) {
  for (const auto& [theirs, each] : kNames)
    if (each == type) return theirs;
  return problem::name_of(type);
}

std::string tune_gemm_type_names() {
  std::string names;
  for (const auto& each : kNames) names += (names.empty() ? "" : ", ") + std::string(each.first);
  return names;
}

}  // namespace hone::triton
