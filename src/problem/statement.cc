#include "problem/statement.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "base/json_fields.h"

namespace hone::problem {
namespace {

using Kind = Statement::Kind;
constexpr std::pair<Kind, std::string_view> kKinds[] = {{Kind::kContraction, "contraction"},
                                                        {Kind::kAttention, "attention"},
                                                        {Kind::kElementwise, "elementwise"}};
constexpr std::array kAttentionOperands = {"query", "key", "value", "mask"};  // mask: of some only
constexpr std::array kContractionRoles = {LoopRole::kBatch, LoopRole::kM, LoopRole::kN,
                                          LoopRole::kK};
constexpr std::array kAttentionRoles = {LoopRole::kBatch, LoopRole::kM, LoopRole::kN, LoopRole::kK1,
                                        LoopRole::kK2};

constexpr std::array kElementwiseRoles = {LoopRole::kM, LoopRole::kN, LoopRole::kK};

constexpr auto kStatedLoopFields = [](auto& loop, auto&& field) {
  field.named("role", loop.role, kLoopRoles);
  field("size", loop.size);
};

constexpr auto kViewFields = [](auto& view, auto&& field) {
  field("binding", view.binding);
  field("offset", view.offset);
  field("words", view.words);
  field.or_default("multiple", view.multiple);
};

constexpr auto kDimensionFields = [](auto& dimension, auto&& field) {
  field("size", dimension.size);
  field("of_loop", dimension.of_loop);
  field("constant", dimension.constant);
};

// A table has no view.
constexpr auto kTableFields = [](auto& use, auto&& field) {
  field("type", use.type);
  field("offset", use.offset);
  field("strides", use.strides);
};

constexpr auto kUseFields = [](auto& use, auto&& field) {
  kTableFields(use, field);
  field("view", use.view);
  field.list_if_any("dimensions", use.dimensions, kDimensionFields);
  field.when(use.constant || !use.dimensions.empty(), "constant", use.constant);
};

constexpr auto kStatedValueFields = [](auto& value, auto&& field) {
  field("op", value.operation);
  field("operands", value.operands);
  if (value.operation.is(ScalarKind::kLoad)) kUseFields(value.use, field);
  if (value.operation.is(ScalarKind::kTable)) {
    kTableFields(value.use, field);
    field("words", value.words);
  }
  field("type", value.type);
  field.when(!value.predicate.empty(), "predicate", value.predicate);
  field.when(value.product != 0, "product", value.product);
  if (value.operation.is(ScalarKind::kReduction)) field("combines", value.combines);
};

constexpr auto kStoreFields = [](auto& store, auto&& field) {
  kUseFields(store.use, field);
  field("value", store.value);
};

constexpr auto kStatedLaunchFields = [](auto& statement, auto&& field) {
  field.or_default("entry", statement.entry);
  field.or_default("bindings", statement.bindings);
  field.or_default("constants", statement.constants);
  field.when(!statement.layout.empty(), "layout", statement.layout);
  field.when(!statement.target.empty(), "target", statement.target);
  field.when(!statement.why_not.empty(), "why_not", statement.why_not);
};

// Key of a value's constant: a constant's own, and where a reduction begins.
const char* constant_key(const StatedValue& value) {
  if (value.operation.is(ScalarKind::kConstant)) return "value";
  return value.operation.is(ScalarKind::kReduction) ? "start" : nullptr;
}

long double constant_from(const nlohmann::json& json) {
  if (json.is_number_integer()) return static_cast<long double>(exact<std::int64_t>(json));
  return number_from_json(json);
}

nlohmann::json constant_json(const StatedValue& value) {
  if (is_float(value.type)) return number_to_json(static_cast<double>(value.constant));
  return static_cast<std::int64_t>(value.constant);
}

// "lhs", "rhs", and "rhs1" of a second product.
std::string operand_name(bool attends, std::size_t number) {
  if (attends) return kAttentionOperands.at(number);
  if (number == 0) return "lhs";
  return number == 1 ? "rhs" : fmt::format("rhs{}", number - 1);
}

std::span<const LoopRole> roles(Kind kind) {
  if (kind == Kind::kAttention) return kAttentionRoles;
  if (kind == Kind::kElementwise) return kElementwiseRoles;
  return kContractionRoles;
}

void check_index(std::size_t index, std::size_t end) {
  if (index >= end) refuse_json("it refers to what is not there");
}

void check_loops(const Statement& statement, const std::vector<std::int64_t>& by_loop) {
  if (by_loop.size() != statement.loops.size()) refuse_json("a stride for each loop is needed");
}

void check_use(const Statement& statement, const StatedUse& use) {
  check_index(use.view, statement.views.size());
  check_loops(statement, use.strides);
  for (const StatedDimension& dimension : use.dimensions) check_loops(statement, dimension.of_loop);
}

// Throws nlohmann::json's exceptions for a statement that does not hold together.
void check_statement(const Statement& statement) {
  const bool elementwise = statement.kind == Kind::kElementwise, reduces = statement.reduces();
  if (reduces && !elementwise) refuse_json("a reduction behind a root");
  for (const StatedLoop& loop : statement.loops) {
    if (loop.size < 1) refuse_json("a loop of no steps");
    if (std::ranges::count(roles(statement.kind), loop.role) == 0 ||
        (elementwise && loop.role == (reduces ? LoopRole::kN : LoopRole::kK)))
      refuse_json(fmt::format("'{}' is no role of a loop", name_of(loop.role)));
  }
  for (const StatedUse& operand : statement.operands) check_use(statement, operand);
  for (std::size_t v = 0; v < statement.values.size(); ++v) {
    const StatedValue& value = statement.values[v];
    for (const std::size_t operand : value.operands) check_index(operand, v);
    if (statement.contracts()) check_index(value.product, statement.products());
    if (value.operation.is(ScalarKind::kReduction) && value.operands.size() != 1)
      refuse_json("a reduction has one operand");
    if (value.operation.is(ScalarKind::kRoot) && elementwise) refuse_json("there is no root");
    if (value.operation.is(ScalarKind::kLoad)) check_use(statement, value.use);
    if (value.operation.is(ScalarKind::kTable)) check_loops(statement, value.use.strides);
  }
  for (const StatedStore& store : statement.stores) {
    check_use(statement, store.use);
    check_index(store.value, statement.values.size());
  }
  if (statement.stores.empty()) refuse_json("nothing that it computes is stored");
}

}  // namespace

static void to_json(nlohmann::json& json, const StatedValue& value) {
  write_fields(json, value, kStatedValueFields);
  if (const char* key = constant_key(value)) json[key] = constant_json(value);
}

static void from_json(const nlohmann::json& json, StatedValue& value) {
  read_fields(json, value, kStatedValueFields);
  if (const char* key = constant_key(value)) value.constant = constant_from(json.at(key));
}

static void to_json(nlohmann::json& json, const StatedUse& use) {
  write_fields(json, use, kUseFields);
}

static void from_json(const nlohmann::json& json, StatedUse& use) {
  read_fields(json, use, kUseFields);
}

constexpr auto kFormFields = [](auto& statement, auto&& field) {
  field.list("loops", statement.loops, kStatedLoopFields);
  field.list("views", statement.views, kViewFields);
  field("values", statement.values);
  field.list("stores", statement.stores, kStoreFields);
};

bool Statement::reduces() const {
  return std::ranges::any_of(
      values, [](const StatedValue& value) { return value.operation.is(ScalarKind::kReduction); });
}

std::int64_t Statement::steps(LoopRole role) const {
  std::int64_t steps = 1;
  for (const StatedLoop& loop : loops)
    if (loop.role == role) steps *= loop.size;
  return steps;
}

std::int64_t loaded_at_once(const Statement& statement, const StatedUse& operand,
                            std::int64_t most) {
  const std::int64_t bytes = byte_size(operand.type);
  const StatedView& view = statement.views.at(operand.view);
  std::int64_t begins =
      std::gcd(std::gcd(most, operand.offset),
               std::gcd(view.offset, view.multiple) / std::max<std::int64_t>(bytes, 1));
  int dense = 0;
  for (std::size_t l = 0; l < operand.strides.size(); ++l) {
    const StatedLoop& loop = statement.loops[l];
    if (loop.size == 1) continue;
    if (operand.strides[l] == 1) {
      ++dense;
      if (loop.size < most) begins = std::gcd(begins, loop.size);
    } else {
      begins = std::gcd(begins, operand.strides[l]);
    }
  }
  return dense == 1 ? begins : 1;
}

void to_json(nlohmann::json& json, const Statement& statement) {
  write_fields(json, statement, kStatedLaunchFields);
  if (!statement.why_not.empty()) return;
  kFormFields(statement, FieldWriter(json));
  const bool attends = statement.attends();
  json["kind"] =
      std::ranges::find(kKinds, statement.kind, &std::pair<Kind, std::string_view>::first)->second;
  for (std::size_t i = 0; i < statement.operands.size(); ++i)
    json[operand_name(attends, i)] = statement.operands[i];
  if (attends) {
    json["scale"] = statement.scale;
    return;
  }
  if (!statement.contracts()) return;
  json["start"] = number_to_json(statement.start);
  for (const StatedValue& value : statement.values)
    if (value.operation.is(ScalarKind::kRoot)) json["accumulator"] = value.type;
}

void from_json(const nlohmann::json& json, Statement& statement) {
  read_fields(json, statement, kStatedLaunchFields);
  if (!statement.why_not.empty()) return;
  kFormFields(statement, FieldReader(json));
  const std::string kind = json.at("kind");
  const auto known = std::ranges::find(kKinds, kind, &std::pair<Kind, std::string_view>::second);
  if (known == std::end(kKinds)) refuse_json("'" + kind + "' is no kind of a statement");
  statement.kind = known->first;
  const bool attends = statement.attends();
  if (attends) statement.scale = json.at("scale");
  if (statement.contracts()) statement.start = number_from_json(json.at("start"));
  std::size_t needed = 0, most = 0;
  if (attends) {
    needed = kAttentionOperands.size() - 1;
    most = kAttentionOperands.size();
  } else if (statement.contracts()) {
    needed = 2;
    most = json.size();
  }
  for (std::size_t i = 0; i < needed || (i < most && json.contains(operand_name(attends, i))); ++i)
    statement.operands.push_back(json.at(operand_name(attends, i)).get<StatedUse>());
  check_statement(statement);
}

Result<const Statement*> stated(const std::optional<Statement>& statement) {
  if (!statement) return input_error("nobody has stated what it computes");
  if (!statement->why_not.empty()) return input_error("{}", statement->why_not);
  return &*statement;
}

std::string statement_text(const std::optional<Statement>& statement) {
  return statement ? nlohmann::json(*statement).dump() : std::string();
}

std::optional<Statement> statement_from(std::string_view text) {
  if (text.empty()) return std::nullopt;
  try {
    return nlohmann::json::parse(text).get<Statement>();
  } catch (const nlohmann::json::exception& error) {
    Statement unreadable;
    unreadable.why_not = fmt::format("the statement cannot be read: {}", error.what());
    return unreadable;
  }
}

Result<Statement> read_statement(std::string_view text) {
  std::optional<Statement> statement = statement_from(text);
  HONE_TRY(stated(statement));
  return *std::move(statement);
}

}  // namespace hone::problem
