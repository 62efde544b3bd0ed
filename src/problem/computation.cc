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

constexpr std::pair<ElementValue::Kind, std::string_view> kValueKinds[] = {
    {ElementValue::Kind::kInput, "input"},         {ElementValue::Kind::kConstant, "constant"},
    {ElementValue::Kind::kElement, "element"},     {ElementValue::Kind::kOperation, "operation"},
    {ElementValue::Kind::kReduction, "reduction"}, {ElementValue::Kind::kSoftmax, "softmax"},
    {ElementValue::Kind::kAttention, "attention"}, {ElementValue::Kind::kOneOf, "one of"},
    {ElementValue::Kind::kUnknown, "unknown"},
};

ElementType type_of_output(const Operation& root) {
  for (const Operand& operand : root.operands)
    if (operand.output) return operand.type.element;
  return ElementType::kF32;
}

// Builds the computation that computation_of() assumes.
class Assumed {
 public:
  explicit Assumed(const Dispatch& dispatch) : dispatch_(dispatch) {}

  Computation build() {
    for (std::size_t i = 0; i < dispatch_.bindings.size(); ++i) {
      const Binding& binding = dispatch_.bindings[i];
      if (binding.access == Access::kWriteOnly) continue;
      ElementValue input{.kind = ElementValue::Kind::kInput, .type = binding.type.element};
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
  int add(ElementValue value) {
    computation_.values.push_back(std::move(value));
    return static_cast<int>(computation_.values.size()) - 1;
  }

  int root() {
    const Operation& root = dispatch_.root;
    const bool products = is_contraction(root.kind) || root.kind == OperationKind::kConvolution;
    const ElementType type = type_of_output(root);
    ElementValue value{.kind = ElementValue::Kind::kUnknown, .operation = root.name, .type = type};
    value.operands = root_inputs_;
    value.terms = iterations(root, /*reduction=*/true);
    value.root = true;
    if ((!products && root.kind != OperationKind::kReduction) || root_inputs_.empty())
      return add(std::move(value));
    const bool is_integer = !is_float(type);
    int term = root_inputs_.front();
    if (products)
      term = add({.kind = ElementValue::Kind::kOperation,
                  .operation = is_integer ? "arith.muli" : "arith.mulf",
                  .operands = {term, root_inputs_.back()},
                  .type = type});
    int start = before_;
    if (start < 0) {
      ElementValue fill{.kind = ElementValue::Kind::kConstant, .type = type};
      fill.constant = dispatch_.fill_value;
      start = add(std::move(fill));
    }
    value.kind = ElementValue::Kind::kReduction;
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
    ElementValue unknown{.kind = ElementValue::Kind::kUnknown,
                         .operation = fused,
                         .type = computation_.values[static_cast<std::size_t>(value)].type};
    unknown.operands = fused_inputs_;
    unknown.operands.insert(unknown.operands.begin(), value);
    unknown.terms = iterations(dispatch_.root, /*reduction=*/false);
    return add(std::move(unknown));
  }

  int converted(int value, ElementType type) {
    const ElementType from = computation_.values[static_cast<std::size_t>(value)].type;
    if (from == type) return value;
    const char* const conversion = is_float(from) == is_float(type) ? "arith.truncf"
                                   : is_float(from)                 ? "arith.fptosi"
                                                                    : "arith.sitofp";
    return add({.kind = ElementValue::Kind::kOperation,
                .operation = conversion,
                .operands = {value},
                .type = type});
  }

  const Dispatch& dispatch_;
  Computation computation_;
  std::vector<int> root_inputs_, fused_inputs_;
  int before_ = -1;
};

constexpr auto kValueFields = [](auto& value, auto&& field) {
  field.named("kind", value.kind, kValueKinds);
  field("type", value.type);
  field.when(!value.operation.name().empty(), "operation", value.operation);
  field.when(!value.operands.empty(), "operands", value.operands);
  field.when(value.binding >= 0, "binding", value.binding);
  if (value.kind == ElementValue::Kind::kConstant)
    field.number_or_default("constant", value.constant);
  field.when(value.terms != 1, "terms", value.terms);
  field.when(value.inner_terms != 1, "inner_terms", value.inner_terms);
  field.when(value.root, "root", value.root);
};

constexpr auto kComputationFields = [](auto& computation, auto&& field) {
  field.list("values", computation.values, kValueFields);
  field("outputs", computation.outputs);
  field("infinite_constants", computation.has_infinite_constants);
};

}  // namespace

Computation computation_of(const Dispatch& dispatch) {
  return dispatch.computation.values.empty() ? Assumed(dispatch).build() : dispatch.computation;
}

void to_json(nlohmann::json& json, const Computation::Output& output) {
  json = {output.binding, output.value};
}

void from_json(const nlohmann::json& json, Computation::Output& output) {
  exact_to(json.at(0), output.binding);
  exact_to(json.at(1), output.value);
}

void to_json(nlohmann::json& json, const Computation& computation) {
  write_fields(json, computation, kComputationFields);
}

void from_json(const nlohmann::json& json, Computation& computation) {
  read_fields(json, computation, kComputationFields);
  const auto is_below = [](int index, std::size_t end) {
    return index >= 0 && static_cast<std::size_t>(index) < end;
  };
  for (std::size_t i = 0; i < computation.values.size(); ++i) {
    const ElementValue& value = computation.values[i];
    const bool in_order =
        std::ranges::all_of(value.operands, [&](int operand) { return is_below(operand, i); });
    if (!in_order || value.terms < 1 || value.inner_terms < 1)
      refuse_json(fmt::format("value {} of a computation uses what is not before it", i));
  }
  for (const Computation::Output& output : computation.outputs)
    if (!is_below(output.value, computation.values.size()))
      refuse_json("an output of a computation is none of its values");
}

}  // namespace hone::problem
