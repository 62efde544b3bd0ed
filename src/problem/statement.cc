#include "problem/statement.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json_fields.h"

namespace hone::problem {
namespace {

constexpr const char* kMask = "mask";  // of some attention only
constexpr std::array kContractionOperands = {"lhs", "rhs"};
constexpr std::array kAttentionOperands = {"query", "key", "value", kMask};
constexpr std::array kContractionRoles = {LoopRole::kBatch, LoopRole::kM, LoopRole::kN,
                                          LoopRole::kK};
constexpr std::array kAttentionRoles = {LoopRole::kBatch, LoopRole::kM, LoopRole::kN, LoopRole::kK1,
                                        LoopRole::kK2};

constexpr auto kLoopFields = [](auto& loop, auto&& field) {
  field.named("role", loop.role, kLoopRoles);
  field("size", loop.size);
};

constexpr auto kViewFields = [](auto& view, auto&& field) {
  field("binding", view.binding);
  field("offset", view.offset);
  field("words", view.words);
  field.or_default("multiple", view.multiple);
};

constexpr auto kLoopAndViewFields = [](auto& statement, auto&& field) {
  field.list("loops", statement.loops, kLoopFields);
  field.list("views", statement.views, kViewFields);
};

constexpr auto kLaunchFields = [](auto& statement, auto&& field) {
  field.or_default("entry", statement.entry);
  field.or_default("bindings", statement.bindings);
  field.or_default("constants", statement.constants);
  field.when(!statement.layout.empty(), "layout", statement.layout);
  field.when(!statement.why_not.empty(), "why_not", statement.why_not);
};

constexpr auto kDimensionFields = [](auto& dimension, auto&& field) {
  field("size", dimension.size);
  field("of_loop", dimension.of_loop);
  field("constant", dimension.constant);
};

constexpr auto kDenseFields = [](auto& use, auto&& field) {
  field.list("dimensions", use.dimensions, kDimensionFields);
  field("constant", use.constant);
};

// Throws nlohmann::json's exceptions for malformed JSON.
class StatementReader {
 public:
  explicit StatementReader(const nlohmann::json& said) : said_(said) {}

  Statement statement() {
    kLaunchFields(read_, FieldReader(said_));
    if (!read_.why_not.empty()) return std::move(read_);
    kLoopAndViewFields(read_, FieldReader(said_));
    for (const StatedLoop& loop : read_.loops)
      if (loop.size < 1) refuse_json("a loop of no steps");
    const std::string kind = said_.at("kind");
    if (kind == "contraction") {
      read_.start = number_from_json(said_.at("start"));
      add_operands(kContractionOperands);
      check_roles(kContractionRoles);
    } else if (kind == "attention") {
      read_.kind = Statement::Kind::kAttention;
      read_.scale = said_.at("scale");
      add_operands(kAttentionOperands);
      check_roles(kAttentionRoles);
    } else {
      refuse_json("'" + kind + "' is no kind of a statement");
    }
    for (const nlohmann::json& value : said_.at("values")) read_.values.push_back(value_of(value));
    for (const nlohmann::json& store : said_.at("stores"))
      read_.stores.push_back({use_of(store), below(store.at("value"), read_.values.size())});
    if (read_.stores.empty()) refuse_json("nothing that it computes is stored");
    return std::move(read_);
  }

 private:
  static std::size_t below(const nlohmann::json& json, std::size_t end) {
    std::size_t index = 0;
    exact_to(json, index);
    if (index >= end) refuse_json("it refers to what is not there");
    return index;
  }

  static ElementType type_of(const nlohmann::json& json) {
    const std::string name = json.at("type");
    const auto type = element_type_from(name);
    if (!type) refuse_json("'" + name + "' is no element type");
    return *type;
  }

  StatedUse walked(const nlohmann::json& json) const {
    StatedUse use{0, type_of(json), 0, {}};
    exact_to(json.at("offset"), use.offset);
    exact_to(json.at("strides"), use.strides);
    check_loops(use.strides);
    return use;
  }

  void check_loops(const std::vector<std::int64_t>& strides) const {
    if (strides.size() != read_.loops.size()) refuse_json("a stride for each loop is needed");
  }

  void check_roles(std::span<const LoopRole> roles) const {
    for (const StatedLoop& loop : read_.loops)
      if (std::ranges::find(roles, loop.role) == roles.end())
        refuse_json(fmt::format("'{}' is no role of a loop", name_of(loop.role)));
  }

  StatedUse use_of(const nlohmann::json& json) const {
    StatedUse use = walked(json);
    use.view = below(json.at("view"), read_.views.size());
    if (!json.contains("dimensions")) return use;
    kDenseFields(use, FieldReader(json));
    for (const StatedDimension& dimension : use.dimensions) check_loops(dimension.of_loop);
    return use;
  }

  void add_operands(std::span<const char* const> names) {
    for (const std::string_view name : names)
      if (name != kMask || said_.contains(kMask)) read_.operands.push_back(use_of(said_.at(name)));
  }

  static long double constant_of(const nlohmann::json& json) {
    if (json.is_number_integer()) return static_cast<long double>(exact<std::int64_t>(json));
    return number_from_json(json);
  }

  StatedValue value_of(const nlohmann::json& json) const {
    StatedValue value{json.at("op").get<std::string>(),
                      type_of(json),
                      {},
                      json.value("predicate", ""),
                      0,
                      {},
                      {}};
    for (const nlohmann::json& operand : json.at("operands"))
      value.operands.push_back(below(operand, read_.values.size()));
    if (value.operation.is(ScalarKind::kConstant)) value.constant = constant_of(json.at("value"));
    if (value.operation.is(ScalarKind::kLoad)) value.use = use_of(json);
    if (value.operation.is(ScalarKind::kTable)) {
      value.use = walked(json);
      json.at("words").get_to(value.words);
    }
    return value;
  }

  const nlohmann::json& said_;
  Statement read_;
};

nlohmann::json json_of(const StatedUse& use) {
  nlohmann::json json{{"view", use.view},
                      {"type", name_of(use.type)},
                      {"offset", use.offset},
                      {"strides", use.strides}};
  if (!use.dimensions.empty() || use.constant) kDenseFields(use, FieldWriter(json));
  return json;
}

nlohmann::json constant_json(const StatedValue& value) {
  if (is_float(value.type)) return number_to_json(static_cast<double>(value.constant));
  return static_cast<std::int64_t>(value.constant);
}

nlohmann::json json_of(const StatedValue& value) {
  nlohmann::json json = nlohmann::json::object();
  const bool is_table = value.operation.is(ScalarKind::kTable);
  if (value.operation.is(ScalarKind::kLoad) || is_table) json = json_of(value.use);
  if (is_table) {
    json.erase("view");
    json["words"] = value.words;
  }
  if (value.operation.is(ScalarKind::kConstant)) json["value"] = constant_json(value);
  if (!value.predicate.empty()) json["predicate"] = value.predicate;
  json["op"] = value.operation.name();
  json["type"] = name_of(value.type);
  json["operands"] = value.operands;
  return json;
}

}  // namespace

std::int64_t Statement::steps(LoopRole role) const {
  std::int64_t steps = 1;
  for (const StatedLoop& loop : loops)
    if (loop.role == role) steps *= loop.size;
  return steps;
}

void to_json(nlohmann::json& json, const Statement& statement) {
  write_fields(json, statement, kLaunchFields);
  if (!statement.why_not.empty()) return;
  kLoopAndViewFields(statement, FieldWriter(json));
  json["values"] = json["stores"] = nlohmann::json::array();
  const bool attends = statement.kind == Statement::Kind::kAttention;
  json["kind"] = attends ? "attention" : "contraction";
  if (attends)
    json["scale"] = statement.scale;
  else
    json["start"] = number_to_json(statement.start);
  for (std::size_t i = 0; i < statement.operands.size(); ++i)
    json[attends ? kAttentionOperands.at(i) : kContractionOperands.at(i)] =
        json_of(statement.operands[i]);
  for (const StatedValue& value : statement.values) {
    json["values"].push_back(json_of(value));
    if (!attends && value.operation.is(ScalarKind::kRoot))
      json["accumulator"] = name_of(value.type);
  }
  for (const StatedStore& store : statement.stores) {
    json["stores"].push_back(json_of(store.use));
    json["stores"].back()["value"] = store.value;
  }
}

void from_json(const nlohmann::json& json, Statement& statement) {
  statement = StatementReader(json).statement();
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
