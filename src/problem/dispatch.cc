#include "problem/dispatch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/exact_json.h"
#include "base/hash.h"
#include "problem/check.h"
#include "problem/refuse_json.h"

namespace hone::problem {

namespace {

constexpr std::pair<Access, std::string_view> kAccesses[] = {
    {Access::kReadOnly, "read"}, {Access::kWriteOnly, "write"}, {Access::kReadWrite, "read-write"}};
constexpr std::pair<BindingUse, std::string_view> kBindingUses[] = {
    {BindingUse::kRootInput, "root input"},
    {BindingUse::kFusedInput, "fused input"},
    {BindingUse::kIndexInput, "index input"},
    {BindingUse::kOutput, "output"}};

// JSON has no infinities, which a maximum starts from: they travel as words.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
}

double number_from(const nlohmann::json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string& word = json.get_ref<const std::string&>();
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0') refuse_json("'" + word + "' is no number");
  return value;
}

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

void to_json(nlohmann::json& json, const TensorType& type) {
  json = {{"element", name_of(type.element)}, {"shape", type.shape}};
}

void from_json(const nlohmann::json& json, TensorType& type) {
  const auto element = json.at("element").get<std::string>();
  const auto known = element_type_from(element);
  if (!known) refuse_json("'" + element + "' is no element type");
  type.element = *known;
  exact_to(json.at("shape"), type.shape);
  refuse_unless(check(type));
}

void to_json(nlohmann::json& json, const Binding& binding) {
  json = {{"access", name_in(kAccesses, binding.access)},
          {"use", name_in(kBindingUses, binding.use)},
          {"type", binding.type},
          {"bytes", binding.bytes}};
  if (binding.ordinal < 0) return;
  json["ordinal"] = binding.ordinal;
  json["offset"] = binding.offset;
}

void from_json(const nlohmann::json& json, Binding& binding) {
  binding.access = named(json.at("access"), kAccesses);
  binding.use = named(json.at("use"), kBindingUses);
  json.at("type").get_to(binding.type);
  exact_to(json.at("bytes"), binding.bytes);
  binding.ordinal = exact_or(json, "ordinal", -1);
  binding.offset = exact_or(json, "offset", std::int64_t{0});
  refuse_unless(check(binding));
}

void to_json(nlohmann::json& json, const Neighbour& neighbour) {
  nlohmann::json loops = nlohmann::json::array();
  for (const Loop& loop : neighbour.loops)
    loops.push_back({{"reduction", loop.reduction}, {"size", loop.size}});
  json = {{"name", neighbour.name},       {"from", neighbour.from},
          {"operand", neighbour.operand}, {"feeds_root", neighbour.feeds_root},
          {"loops", std::move(loops)},    {"root_loops", neighbour.root_loops}};
}

void from_json(const nlohmann::json& json, Neighbour& neighbour) {
  json.at("name").get_to(neighbour.name);
  exact_to(json.at("from"), neighbour.from);
  exact_to(json.at("operand"), neighbour.operand);
  json.at("feeds_root").get_to(neighbour.feeds_root);
  neighbour.loops.clear();
  for (const auto& loop : json.at("loops"))
    neighbour.loops.push_back(
        {loop.at("reduction").get<bool>(), exact<std::int64_t>(loop.at("size"))});
  exact_to(json.at("root_loops"), neighbour.root_loops);
}

void to_json(nlohmann::json& json, const Dispatch& dispatch) {
  json = {{"name", dispatch.name},
          {"executable", dispatch.executable},
          {"source", dispatch.source},
          {"root", dispatch.root},
          {"root_operations", dispatch.root_operations},
          {"root_bindings", dispatch.root_bindings},
          {"plain_products", dispatch.plain_products},
          {"plain_epilogue", dispatch.plain_epilogue},
          {"fill_value", number(dispatch.fill_value)},
          {"fused", dispatch.fused},
          {"computation", dispatch.computation},
          {"operand_digits", dispatch.operand_digits},
          {"neighbours", dispatch.neighbours},
          {"bindings", dispatch.bindings},
          {"constants", dispatch.constants},
          {"launches_per_call", dispatch.launches_per_call},
          {"default_configuration", dispatch.default_configuration},
          {"default_translation", dispatch.default_translation},
          {"stated_constraints", dispatch.stated_constraints},
          {"not_tunable", dispatch.not_tunable}};
  if (!dispatch.contraction.empty()) json["contraction"] = dispatch.contraction;
}

void from_json(const nlohmann::json& json, Dispatch& dispatch) {
  json.at("name").get_to(dispatch.name);
  json.at("executable").get_to(dispatch.executable);
  json.at("source").get_to(dispatch.source);
  json.at("root").get_to(dispatch.root);
  exact_to(json.at("root_operations"), dispatch.root_operations);
  // Stores written before these were read from the IR lack them.
  dispatch.root_bindings = exact_or(json, "root_bindings", std::vector<int>());
  dispatch.plain_products = json.value("plain_products", true);
  dispatch.plain_epilogue = json.value("plain_epilogue", false);
  dispatch.fill_value = json.contains("fill_value") ? number_from(json["fill_value"]) : 0;
  json.at("fused").get_to(dispatch.fused);
  dispatch.computation = json.value("computation", Computation());
  if (json.contains("operand_digits")) exact_to(json["operand_digits"], dispatch.operand_digits);
  dispatch.neighbours = json.value("neighbours", std::vector<Neighbour>());
  json.at("bindings").get_to(dispatch.bindings);
  exact_to(json.at("constants"), dispatch.constants);
  exact_to(json.at("launches_per_call"), dispatch.launches_per_call);
  json.at("default_configuration").get_to(dispatch.default_configuration);
  json.at("default_translation").get_to(dispatch.default_translation);
  dispatch.stated_constraints = json.value("stated_constraints", std::string());
  dispatch.contraction = json.value("contraction", std::string());
  json.at("not_tunable").get_to(dispatch.not_tunable);
}

void to_json(nlohmann::json& json, const Program& program) {
  nlohmann::json functions = nlohmann::json::array();
  for (const Function& function : program.functions)
    functions.push_back(
        {{"name", function.name}, {"inputs", function.inputs}, {"outputs", function.outputs}});
  json = {{"path", program.path},
          {"hash", program.hash},
          {"functions", functions},
          {"dispatches", program.dispatches}};
}

void from_json(const nlohmann::json& json, Program& program) {
  json.at("path").get_to(program.path);
  json.at("hash").get_to(program.hash);
  program.functions.clear();
  for (const auto& item : json.at("functions"))
    program.functions.push_back({item.at("name").get<std::string>(),
                                 item.at("inputs").get<std::vector<TensorType>>(),
                                 item.at("outputs").get<std::vector<TensorType>>()});
  json.at("dispatches").get_to(program.dispatches);
}

}  // namespace hone::problem
