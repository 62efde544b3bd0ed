#include "tests/made_up_provider/choice.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hone::plain_c {

problem::Dispatch dispatch_of(const Product& product) {
  using problem::Access, problem::BindingUse, problem::LoopRole, problem::TensorType;
  const auto [m, n, k] = product;
  const auto type = [](std::int64_t rows, std::int64_t columns) {
    return TensorType{problem::ElementType::kF32, {rows, columns}};
  };
  problem::Dispatch dispatch;
  dispatch.name = dispatch.executable = fmt::format("product_{}x{}x{}", m, n, k);
  dispatch.source = nlohmann::json{{"m", m}, {"n", n}, {"k", k}}.dump();
  dispatch.root = {
      .kind = problem::OperationKind::kMatmul,
      .name = "product",
      .loops = {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}},
      .operands = {
          {type(m, k), {0, 2}, false}, {type(k, n), {2, 1}, false}, {type(m, n), {0, 1}, true}}};
  dispatch.root_operations = 1;
  dispatch.root_bindings = {0, 1, 2};
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, type(m, k), m * k * 4},
                       {Access::kReadOnly, BindingUse::kRootInput, type(k, n), k * n * 4},
                       {Access::kWriteOnly, BindingUse::kOutput, type(m, n), m * n * 4}};
  dispatch.launches_per_call = 1;
  return dispatch;
}

Result<Product> product_in(const std::string& source) {
  try {
    const auto json = nlohmann::json::parse(source);
    return Product{json.at("m"), json.at("n"), json.at("k")};
  } catch (const nlohmann::json::exception& error) {
    return input_error("no product of matrices: {}", error.what());
  }
}

provider::Payload payload_of(const Choice& choice) {
  return {{{"loops", choice.by_rows ? "rows" : "dots"},
           {"columns", choice.columns},
           {"flags", {fmt::format("-O{}", choice.level)}}}};
}

Result<Choice> choice_in(const provider::Payload& payload) {
  try {
    const auto flag = payload.json.at("flags").at(0).get<std::string>();
    if (!flag.starts_with("-O")) return input_error("'{}' is no level", flag);
    return Choice{payload.json.at("loops") == "rows", payload.json.at("columns"), flag.at(2) - '0'};
  } catch (const std::exception& error) {
    return input_error("no choice for C: {}", error.what());
  }
}

}  // namespace hone::plain_c
