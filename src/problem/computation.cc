#include "problem/computation.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json_fields.h"
#include "problem/dispatch.h"

namespace hone::problem {
namespace {

// The order of Value::Kind.
constexpr std::array<std::string_view, 9> kValueKinds = {"input",     "constant",  "element",
                                                         "operation", "reduction", "softmax",
                                                         "attention", "one of",    "unknown"};

ElementType type_of_output(const Operation& root) {
  for (const Operand& operand : root.operands)
    if (operand.output) return operand.type.element;
  return ElementType::kF32;
}

std::int64_t reduced(const Operation& root) {
  std::int64_t terms = 1;
  for (const Loop& loop : root.loops)
    if (loop.reduction) terms *= std::max<std::int64_t>(1, loop.size);
  return terms;
}

// Builds the computation that computation_of() assumes.
class Assumed {
 public:
  explicit Assumed(const Dispatch& dispatch) : dispatch_(dispatch) {}

  Computation build() {
    for (std::size_t i = 0; i < dispatch_.bindings.size(); ++i) {
      const Binding& binding = dispatch_.bindings[i];
      if (binding.access == Access::kWriteOnly) continue;
      Value input{.kind = Value::Kind::kInput, .type = binding.type.element};
      input.binding = static_cast<int>(i);
      const int value = add(std::move(input));
      if (binding.use == BindingUse::kRootInput) root_inputs_.push_back(value);
      if (binding.use == BindingUse::kFusedInput) fused_inputs_.push_back(value);
      if (binding.use == BindingUse::kOutput) before_ = value;
    }
    int value = root();
    for (const std::string& fused : dispatch_.fused) value = behind(fused, value);
    for (std::size_t i = 0; i < dispatch_.bindings.size(); ++i)
      if (dispatch_.bindings[i].use == BindingUse::kOutput)
        computation_.outputs.push_back(
            {static_cast<int>(i), converted(value, dispatch_.bindings[i].type.element)});
    return std::move(computation_);
  }

 private:
  int add(Value value) {
    computation_.values.push_back(std::move(value));
    return static_cast<int>(computation_.values.size()) - 1;
  }

  int root() {
    const Operation& root = dispatch_.root;
    const bool products = is_contraction(root.kind) || root.kind == OperationKind::kConvolution;
    const ElementType type = type_of_output(root);
    Value value{.kind = Value::Kind::kUnknown, .operation = root.name, .type = type};
    value.operands = root_inputs_;
    value.terms = reduced(root);
    value.root = true;
    if ((!products && root.kind != OperationKind::kReduction) || root_inputs_.empty())
      return add(std::move(value));
    const bool is_integer = !is_float(type);
    int term = root_inputs_.front();
    if (products)
      term = add({.kind = Value::Kind::kOperation,
                  .operation = is_integer ? "arith.muli" : "arith.mulf",
                  .operands = {term, root_inputs_.back()},
                  .type = type});
    int start = before_;
    if (start < 0) {
      Value fill{.kind = Value::Kind::kConstant, .type = type};
      fill.constant = dispatch_.fill_value;
      start = add(std::move(fill));
    }
    value.kind = Value::Kind::kReduction;
    value.operation = is_integer ? "arith.addi" : "arith.addf";
    value.operands = {term, start};
    return add(std::move(value));
  }

  // The names alone do not say what each operation adds, to which value, and how often.
  int behind(const std::string& fused, int value) {
    constexpr std::array<std::string_view, 9> kMoves = {
        "fill", "linalg.fill", "copy",   "transpose",          "broadcast",
        "pad",  "pack",        "unpack", "tensor.insert_slice"};
    if (std::ranges::find(kMoves, fused) != kMoves.end()) return value;
    Value unknown{.kind = Value::Kind::kUnknown,
                  .operation = fused,
                  .type = computation_.values[static_cast<std::size_t>(value)].type};
    unknown.operands = fused_inputs_;
    unknown.operands.insert(unknown.operands.begin(), value);
    for (const Loop& loop : dispatch_.root.loops)
      if (!loop.reduction) unknown.terms *= std::max<std::int64_t>(1, loop.size);
    return add(std::move(unknown));
  }

  int converted(int value, ElementType type) {
    const ElementType from = computation_.values[static_cast<std::size_t>(value)].type;
    if (from == type) return value;
    const char* const conversion = is_float(from) == is_float(type) ? "arith.truncf"
                                   : is_float(from)                 ? "arith.fptosi"
                                                                    : "arith.sitofp";
    return add({.kind = Value::Kind::kOperation,
                .operation = conversion,
                .operands = {value},
                .type = type});
  }

  const Dispatch& dispatch_;
  Computation computation_;
  std::vector<int> root_inputs_, fused_inputs_;
  int before_ = -1;
};

nlohmann::json value_to_json(const Value& value) {
  nlohmann::json json{{"kind", kValueKinds[static_cast<std::size_t>(value.kind)]},
                      {"type", name_of(value.type)}};
  if (!value.operation.name().empty()) json["operation"] = value.operation.name();
  if (!value.operands.empty()) json["operands"] = value.operands;
  if (value.binding >= 0) json["binding"] = value.binding;
  if (value.kind == Value::Kind::kConstant) json["constant"] = number_to_json(value.constant);
  if (value.terms != 1) json["terms"] = value.terms;
  if (value.inner_terms != 1) json["inner_terms"] = value.inner_terms;
  if (value.root) json["root"] = true;
  return json;
}

Value value_from_json(const nlohmann::json& json, std::size_t index) {
  const auto kind = std::ranges::find(kValueKinds, json.at("kind").get<std::string>());
  const auto type = element_type_from(json.at("type").get<std::string>());
  if (kind == kValueKinds.end() || !type)
    refuse_json("value " + std::to_string(index) + " of a computation has an unknown kind or type");
  Value value{.kind = static_cast<Value::Kind>(kind - kValueKinds.begin()), .type = *type};
  value.operation = json.value("operation", std::string());
  const auto read = [&json](const char* key, auto& into) {
    if (json.contains(key)) exact_to(json[key], into);
  };
  read("operands", value.operands);
  read("binding", value.binding);
  if (json.contains("constant")) value.constant = number_from_json(json["constant"]);
  read("terms", value.terms);
  read("inner_terms", value.inner_terms);
  value.root = json.value("root", false);
  const bool in_order = std::ranges::all_of(value.operands, [index](int operand) {
    return operand >= 0 && static_cast<std::size_t>(operand) < index;
  });
  if (!in_order || value.terms < 1 || value.inner_terms < 1)
    refuse_json("value " + std::to_string(index) + " of a computation uses what is not before it");
  return value;
}

}  // namespace

Computation computation_of(const Dispatch& dispatch) {
  return dispatch.computation.values.empty() ? Assumed(dispatch).build() : dispatch.computation;
}

void to_json(nlohmann::json& json, const Computation& computation) {
  nlohmann::json values = nlohmann::json::array(), outputs = nlohmann::json::array();
  for (const Value& value : computation.values) values.push_back(value_to_json(value));
  for (const Computation::Output& output : computation.outputs)
    outputs.push_back({output.binding, output.value});
  json = {{"values", std::move(values)},
          {"outputs", std::move(outputs)},
          {"infinite_constants", computation.has_infinite_constants}};
}

void from_json(const nlohmann::json& json, Computation& computation) {
  computation = {};
  for (const nlohmann::json& value : json.at("values"))
    computation.values.push_back(value_from_json(value, computation.values.size()));
  for (const nlohmann::json& output : json.at("outputs")) {
    Computation::Output read;
    exact_to(output.at(0), read.binding);
    exact_to(output.at(1), read.value);
    if (read.value < 0 || static_cast<std::size_t>(read.value) >= computation.values.size())
      refuse_json("an output of a computation is none of its values");
    computation.outputs.push_back(read);
  }
  computation.has_infinite_constants = json.at("infinite_constants").get<bool>();
}

}  // namespace hone::problem
