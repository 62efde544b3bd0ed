#include "problem/dispatch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json_fields.h"
#include "problem/check.h"

namespace hone::problem {

namespace {

constexpr std::pair<Access, std::string_view> kAccesses[] = {
    {Access::kReadOnly, "read"}, {Access::kWriteOnly, "write"}, {Access::kReadWrite, "read-write"}};
constexpr std::pair<BindingUse, std::string_view> kBindingUses[] = {
    {BindingUse::kRootInput, "root input"},
    {BindingUse::kFusedInput, "fused input"},
    {BindingUse::kIndexInput, "index input"},
    {BindingUse::kOutput, "output"}};

}  // namespace

std::string fingerprint(const Dispatch& dispatch) {
  return content_hash(dispatch.source);
}

Launch over_bindings(Launch launch, const Dispatch& dispatch) {
  if (!launch.arguments.empty()) return launch;
  if (launch.constants.size() == dispatch.constants.size()) launch.constants = dispatch.constants;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& view = dispatch.bindings[i];
    if (view.ordinal < 0) return launch;  // each is a binding of its own
    const auto ordinal = static_cast<std::size_t>(view.ordinal);
    if (ordinal >= launch.bindings.size()) launch.bindings.resize(ordinal + 1);
    KernelBinding& binding = launch.bindings[ordinal];
    if (binding.buffer < 0) {
      binding.buffer = static_cast<int>(i);
      binding.offset = view.offset;
    }
    binding.bytes = std::max(binding.bytes, view.offset + std::max<std::int64_t>(0, view.bytes));
  }
  return launch;
}

constexpr auto kTensorTypeFields = [](auto& type, auto&& field) {
  field("element", type.element);
  field("shape", type.shape);
};

void to_json(nlohmann::json& json, const TensorType& type) {
  write_fields(json, type, kTensorTypeFields);
}

void from_json(const nlohmann::json& json, TensorType& type) {
  read_fields(json, type, kTensorTypeFields);
  refuse_unless(check(type));
}

constexpr auto kBindingFields = [](auto& binding, auto&& field) {
  field.named("access", binding.access, kAccesses);
  field.named("use", binding.use, kBindingUses);
  field("type", binding.type);
  field("bytes", binding.bytes);
  field.when(binding.ordinal >= 0, "ordinal", binding.ordinal);
  field.when(binding.ordinal >= 0, "offset", binding.offset);
};

void to_json(nlohmann::json& json, const Binding& binding) {
  write_fields(json, binding, kBindingFields);
}

void from_json(const nlohmann::json& json, Binding& binding) {
  read_fields(json, binding, kBindingFields);
  refuse_unless(check(binding));
}

constexpr auto kSurroundingLoopFields = [](auto& loop, auto&& field) {
  field("reduction", loop.reduction);
  field("size", loop.size);
};

constexpr auto kSurroundingOperationFields = [](auto& operation, auto&& field) {
  field("name", operation.name);
  field("from", operation.from);
  field("operand", operation.operand);
  field("feeds_root", operation.feeds_root);
  field.list("loops", operation.loops, kSurroundingLoopFields);
  field("root_loops", operation.root_loops);
};

void to_json(nlohmann::json& json, const SurroundingOperation& operation) {
  write_fields(json, operation, kSurroundingOperationFields);
}

void from_json(const nlohmann::json& json, SurroundingOperation& operation) {
  read_fields(json, operation, kSurroundingOperationFields);
}

// Stores of an earlier hone lack what has a default here, and call the surrounding operations so.
constexpr auto kDispatchFields = [](auto& dispatch, auto&& field) {
  field("name", dispatch.name);
  field("executable", dispatch.executable);
  field("source", dispatch.source);
  field("root", dispatch.root);
  field("root_operations", dispatch.root_operations);
  field.or_default("root_bindings", dispatch.root_bindings);
  field.or_default("plain_products", dispatch.plain_products);
  field.or_default("plain_epilogue", dispatch.plain_epilogue);
  field.number_or_default("fill_value", dispatch.fill_value);
  field("fused", dispatch.fused);
  field.or_default("computation", dispatch.computation);
  field.or_default("operand_digits", dispatch.operand_digits);
  field.or_default("neighbours", dispatch.surrounding);
  field("bindings", dispatch.bindings);
  field.when(!dispatch.arguments.empty(), "arguments", dispatch.arguments);
  field("constants", dispatch.constants);
  field("launches_per_call", dispatch.launches_per_call);
  field.when(!dispatch.launched_by.empty(), "launched_by", dispatch.launched_by);
  field.when(dispatch.launches_vary, "launches_vary", dispatch.launches_vary);
  field("default_configuration", dispatch.default_configuration);
  field("default_translation", dispatch.default_translation);
  field.or_default("stated_constraints", dispatch.stated_constraints);
  field("not_tunable", dispatch.not_tunable);
};

void to_json(nlohmann::json& json, const Dispatch& dispatch) {
  write_fields(json, dispatch, kDispatchFields);
  if (dispatch.statement) json["statement"] = statement_text(dispatch.statement);
}

void from_json(const nlohmann::json& json, Dispatch& dispatch) {
  read_fields(json, dispatch, kDispatchFields);
  dispatch.statement = statement_from(json.value("statement", ""));
}

constexpr auto kInputRangeFields = [](auto& range, auto&& field) {
  field("input", range.input);
  field("least", range.least);
  field("most", range.most);
  field("unknown", range.unknown);
};

constexpr auto kFunctionFields = [](auto& function, auto&& field) {
  field("name", function.name);
  field("inputs", function.inputs);
  field("outputs", function.outputs);
  field.list_if_any("ranges", function.ranges, kInputRangeFields);
  field.when(!function.missing_sizes.empty(), "missing_sizes", function.missing_sizes);
  field.when(!function.input_forms.empty(), "input_forms", function.input_forms);
  field.when(!function.output_forms.empty(), "output_forms", function.output_forms);
  field.when(!function.unknown_type.empty(), "unknown_type", function.unknown_type);
  field.when(function.keeps_state, "keeps_state", function.keeps_state);
  field.when(!function.overwritten.empty(), "overwritten", function.overwritten);
  field.when(!function.module.empty(), "module", function.module);
};

void to_json(nlohmann::json& json, const Function& function) {
  write_fields(json, function, kFunctionFields);
}

void from_json(const nlohmann::json& json, Function& function) {
  read_fields(json, function, kFunctionFields);
}

constexpr auto kProgramFields = [](auto& program, auto&& field) {
  field("path", program.path);
  field("hash", program.hash);
  field("functions", program.functions);
  field("dispatches", program.dispatches);
  field.when(program.configured_operations > 0, "configured_operations",
             program.configured_operations);
  field.when(!program.regions.names.empty(), "regions", program.regions.names);
  field.when(!program.regions.spec.empty(), "regions_spec", program.regions.spec);
};

void to_json(nlohmann::json& json, const Program& program) {
  write_fields(json, program, kProgramFields);
}

void from_json(const nlohmann::json& json, Program& program) {
  read_fields(json, program, kProgramFields);
}

}  // namespace hone::problem
