#include "problem/statement.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json_fields.h"

namespace hone::problem {
namespace {

constexpr const char* kMask = "mask";  // of some attention only
constexpr std::array kContractionOperands = {"lhs", "rhs"};
constexpr std::array kAttentionOperands = {"query", "key", "value", kMask};

// Throws nlohmann::json's exceptions for malformed JSON.
class StatementReader {
 public:
  explicit StatementReader(const nlohmann::json& said) : said_(said) {}

  Statement statement() {
    for (const nlohmann::json& loop : said_.at("loops"))
      read_.loops.push_back({loop.at("role"), positive(loop.at("size"))});
    for (const nlohmann::json& view : said_.at("views")) {
      StatedView& read = read_.views.emplace_back();
      exact_to(view.at("binding"), read.binding);
      exact_to(view.at("offset"), read.offset);
      exact_to(view.at("words"), read.words);
    }
    said_.at("entry").get_to(read_.entry);
    exact_to(said_.at("bindings"), read_.bindings);
    exact_to(said_.at("constants"), read_.constants);
    const std::string kind = said_.at("kind");
    if (kind == "contraction") {
      read_.start = number_from_json(said_.at("start"));
      add_operands(kContractionOperands);
    } else if (kind == "attention") {
      read_.kind = Statement::Kind::kAttention;
      read_.scale = said_.at("scale");
      add_operands(kAttentionOperands);
    } else {
      refuse_json("'" + kind + "' is no kind of a statement");
    }
    for (const nlohmann::json& value : said_.at("values")) read_.values.push_back(value_of(value));
    for (const nlohmann::json& store : said_.at("stores"))
      read_.stores.push_back({use_of(store), below(store.at("value"), read_.values.size())});
    return std::move(read_);
  }

 private:
  static std::int64_t positive(const nlohmann::json& json) {
    std::int64_t size = 0;
    exact_to(json, size);
    if (size < 1) refuse_json("a loop of no steps");
    return size;
  }

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
    if (use.strides.size() != read_.loops.size()) refuse_json("a stride for each loop is needed");
    return use;
  }

  StatedUse use_of(const nlohmann::json& json) const {
    StatedUse use = walked(json);
    use.view = below(json.at("view"), read_.views.size());
    return use;
  }

  void add_operands(std::span<const char* const> names) {
    for (const std::string_view name : names)
      if (name != kMask || said_.contains(kMask)) read_.operands.push_back(use_of(said_.at(name)));
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
    if (value.operation.is(ScalarKind::kConstant))
      value.constant = number_from_json(json.at("value"));
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
  return {{"view", use.view},
          {"type", name_of(use.type)},
          {"offset", use.offset},
          {"strides", use.strides}};
}

nlohmann::json json_of(const StatedValue& value) {
  nlohmann::json json = nlohmann::json::object();
  const bool is_table = value.operation.is(ScalarKind::kTable);
  if (value.operation.is(ScalarKind::kLoad) || is_table) json = json_of(value.use);
  if (is_table) json["words"] = value.words;
  if (value.operation.is(ScalarKind::kConstant)) json["value"] = number_to_json(value.constant);
  if (!value.predicate.empty()) json["predicate"] = value.predicate;
  json["op"] = value.operation.name();
  json["type"] = name_of(value.type);
  json["operands"] = value.operands;
  return json;
}

}  // namespace

void to_json(nlohmann::json& json, const Statement& statement) {
  json = {{"entry", statement.entry},         {"bindings", statement.bindings},
          {"constants", statement.constants}, {"loops", nlohmann::json::array()},
          {"views", nlohmann::json::array()}, {"values", nlohmann::json::array()},
          {"stores", nlohmann::json::array()}};
  const bool attends = statement.kind == Statement::Kind::kAttention;
  json["kind"] = attends ? "attention" : "contraction";
  if (attends)
    json["scale"] = statement.scale;
  else
    json["start"] = number_to_json(statement.start);
  for (std::size_t i = 0; i < statement.operands.size(); ++i)
    json[attends ? kAttentionOperands.at(i) : kContractionOperands.at(i)] =
        json_of(statement.operands[i]);
  for (const StatedLoop& loop : statement.loops)
    json["loops"].push_back({{"role", loop.role}, {"size", loop.size}});
  for (const StatedView& view : statement.views)
    json["views"].push_back(
        {{"binding", view.binding}, {"offset", view.offset}, {"words", view.words}});
  for (const StatedValue& value : statement.values) json["values"].push_back(json_of(value));
  for (const StatedStore& store : statement.stores) {
    json["stores"].push_back(json_of(store.use));
    json["stores"].back()["value"] = store.value;
  }
}

void from_json(const nlohmann::json& json, Statement& statement) {
  statement = StatementReader(json).statement();
}

Result<Statement> read_statement(std::string_view text) {
  if (text.empty()) return input_error("nobody has stated what it computes");
  try {
    const nlohmann::json said = nlohmann::json::parse(text);
    if (said.contains("why_not")) return input_error("{}", said.at("why_not").get<std::string>());
    return StatementReader(said).statement();
  } catch (const nlohmann::json::exception& error) {
    return input_error("the statement cannot be read: {}", error.what());
  }
}

}  // namespace hone::problem
