#include "provider/iree/gpu/stated_space.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "provider/iree/gpu/stated_additions.h"

namespace hone::iree {
namespace {

using space::Expression;

// A message without its last group in parentheses: "wg_0 <= 512 (max VGPRs)" -> "wg_0 <= 512".
std::string name_of(std::string_view message) {
  const auto open = message.rfind(" (");
  return std::string(open == std::string_view::npos ? message : message.substr(0, open));
}

// Values of a knob whose only stated bound is a guess about speed, which may be relaxed; else
// empty.
std::vector<space::Value> own_domain(std::string_view knob) {
  if (knob == "prefetch_num_stages") return {2, 0, 3};
  return {};
}

// Whether an assertion only says what the compiler's authors think is fast: a limit that stands for
// registers without counting them, or a fixed number of subgroups or stages.
bool is_heuristic(std::string_view message) {
  constexpr std::array<std::string_view, 5> kGuesses = {
      "max VGPRs", "max_vgprs", "sg_num <=", "prefetch_num_stages ==", "sg_m_cnt * sg_n_cnt == 4"};
  return std::ranges::any_of(kGuesses, [&](std::string_view guess) {
    return message.find(guess) != std::string_view::npos;
  });
}

class Building {
 public:
  explicit Building(const StatedSet& set) : set_(set) {}

  Result<space::SpaceBuilder> run() {
    for (const StatedTerm& term : set_.terms) HONE_TRY(add(term));
    for (const StatedAssertion& assertion : set_.assertions) HONE_TRY(add(assertion));
    return std::move(builder_);
  }

 private:
  bool is_known(int position) const {
    return position >= 0 && static_cast<std::size_t>(position) < expressions_.size();
  }

  Status add(const StatedTerm& term) {
    constexpr std::array<std::size_t, 18> kOperands = {0, 0, 0, 1, 1, 2, 1, 2, 2,
                                                       2, 2, 2, 2, 2, 1, 1, 1, 3};
    if (term.operands.size() < kOperands.at(static_cast<std::size_t>(term.kind)) ||
        !std::ranges::all_of(term.operands, [&](int operand) { return is_known(operand); }))
      return input_error("term {} of the compiler's constraints has wrong operands",
                         expressions_.size());
    std::vector<Expression> operands;
    for (const int operand : term.operands)
      operands.push_back(expressions_[static_cast<std::size_t>(operand)]);
    expressions_.push_back(expression(term, operands));
    return {};
  }

  Expression expression(const StatedTerm& term, const std::vector<Expression>& operands) {
    switch (term.kind) {
      case StatedTermKind::kConstant:
        return space::constant(term.value);
      case StatedTermKind::kKnob:
        return knob(term.name);
      case StatedTermKind::kAuxiliary:
        return builder_.auxiliary(term.name);
      case StatedTermKind::kLookup:
        return space::lookup(operands[0], term.keys, term.values);
      case StatedTermKind::kAdd:
        return folded(operands, [](const auto& a, const auto& b) { return a + b; });
      case StatedTermKind::kMultiply:
        return space::product_of(operands);
      case StatedTermKind::kSubtract:
        return operands[0] - operands[1];
      case StatedTermKind::kDivide:
        return space::euclidean_div(operands[0], operands[1]);
      case StatedTermKind::kModulo:
        return space::euclidean_mod(operands[0], operands[1]);
      case StatedTermKind::kLess:
        return operands[0] < operands[1];
      case StatedTermKind::kLessEqual:
        return operands[0] <= operands[1];
      case StatedTermKind::kGreater:
        return operands[0] > operands[1];
      case StatedTermKind::kGreaterEqual:
        return operands[0] >= operands[1];
      case StatedTermKind::kEqual:
        return operands[0] == operands[1];
      case StatedTermKind::kAnd:
        return space::all_of(operands);
      case StatedTermKind::kOr:
        return space::any_of(operands);
      case StatedTermKind::kNot:
        return !operands[0];
      case StatedTermKind::kIfThenElse:
        return space::ite(operands[0], operands[1], operands[2]);
    }
    return space::constant(0);
  }

  template <class Combine>
  static Expression folded(const std::vector<Expression>& operands, const Combine& combine) {
    Expression all = operands.front();
    for (std::size_t i = 1; i < operands.size(); ++i) all = combine(all, operands[i]);
    return all;
  }

  // A knob may be named by several operations: it is one.
  Expression knob(const std::string& name) {
    for (const auto& [known, expression] : knobs_)
      if (known == name) return expression;
    const auto stated =
        std::ranges::find_if(set_.knobs, [&](const StatedKnob& each) { return each.name == name; });
    std::vector<space::Value> values = own_domain(name);
    std::string description;
    if (stated != set_.knobs.end() && !stated->options.empty()) {
      values.clear();
      std::vector<std::string> options;
      for (const std::string& option : stated->options) {
        options.push_back(fmt::format("{}: {}", values.size(), option));
        values.push_back(static_cast<space::Value>(values.size()));
      }
      description = fmt::format("{}", fmt::join(options, ", "));
    }
    const auto [lower, upper] = space::SpaceBuilder::kLoose;
    const Expression expression = values.empty()
                                      ? builder_.knob_range(name, description, lower, upper)
                                      : builder_.knob(name, description, std::move(values));
    knobs_.emplace_back(name, expression);
    return expression;
  }

  Status add(const StatedAssertion& assertion) {
    std::vector<Expression> arguments;
    for (const int argument : assertion.arguments) {
      if (!is_known(argument)) return input_error("'{}' has no argument", assertion.message);
      arguments.push_back(expressions_[static_cast<std::size_t>(argument)]);
    }
    if (!is_known(assertion.condition))
      return input_error("'{}' has no condition", assertion.message);
    const Expression condition = expressions_[static_cast<std::size_t>(assertion.condition)];
    // Skip assertions that are always true, such as that an extent equals itself: they constrain no
    // configuration.
    if (space::variables_of(condition).empty() && space::evaluate(condition, {}).value_or(0) != 0)
      return {};
    const std::string name = name_of(assertion.message);
    if (is_heuristic(assertion.message))
      builder_.prefer(name, assertion.message, condition, std::move(arguments));
    else
      builder_.require(name, assertion.message, condition, std::move(arguments));
    return {};
  }

  const StatedSet& set_;
  space::SpaceBuilder builder_;
  std::vector<Expression> expressions_;
  std::vector<std::pair<std::string, Expression>> knobs_;
};

space::Space united(const StatedSpace& stated, std::vector<space::Space> parts) {
  std::vector<std::string> names;
  for (const StatedSet& set : stated)
    names.push_back(fmt::format("{}: {}", names.size(), set.pipeline));
  return space::Space::unite(std::string(kPipelineKnob), fmt::format("{}", fmt::join(names, ", ")),
                             std::move(parts));
}

}  // namespace

Result<space::SpaceBuilder> space_builder(const StatedSet& set) {
  return Building(set).run();
}

Result<space::Space> compiler_space_of(const StatedSpace& stated) {
  if (stated.empty()) return input_error("the compiler states no constraints");
  std::vector<space::Space> parts;
  for (const StatedSet& set : stated) {
    HONE_ASSIGN(const space::SpaceBuilder builder, space_builder(set));
    HONE_ASSIGN(space::Space part, builder.build());
    parts.push_back(std::move(part));
  }
  return united(stated, std::move(parts));
}

Result<space::Space> space_of(const StatedSpace& stated, const problem::Operation& root,
                              const problem::GpuTarget& target, std::string_view audited) {
  if (stated.empty()) return input_error("the compiler states no constraints");
  std::vector<space::Space> parts;
  std::vector<std::string> rules;  // of hone's
  bool opposed = audited.empty();
  for (const StatedSet& set : stated) {
    HONE_ASSIGN(space::SpaceBuilder builder, space_builder(set));
    const std::size_t theirs = builder.definition().constraints.size();
    add_own_rules(set, root, target, builder);
    for (std::size_t i = theirs; i < builder.definition().constraints.size(); ++i)
      if (builder.definition().constraints[i].hardness == space::Hardness::kHard)
        rules.push_back(builder.definition().constraints[i].name);
    add_own_knobs(target, builder);
    if (!audited.empty()) {
      // Positions of parts stay the compiler's: one without the rule is empty.
      const bool has_rule = std::ranges::count(rules, audited) > 0 && builder.oppose(audited);
      if (!has_rule) builder.require("not audited", "the rule is none of this pipeline's", false);
      opposed = opposed || has_rule;
    }
    HONE_ASSIGN(space::Space part, builder.build());
    parts.push_back(std::move(part));
  }
  if (!opposed)
    return input_error(
        "'{}' is none of the rules that hone adds here: {}", audited,
        rules.empty() ? "there are none" : fmt::format("{}", fmt::join(rules, "; ")));
  return united(stated, std::move(parts));
}

constexpr auto kTermFields = [](auto& term, auto&& field) {
  field.when(!term.operands.empty(), "operands", term.operands);
  field.when(term.kind == StatedTermKind::kConstant, "value", term.value);
  field.when(!term.name.empty(), "name", term.name);
  field.when(!term.keys.empty(), "keys", term.keys);
  field.when(!term.values.empty(), "values", term.values);
};

constexpr auto kStatedKnobFields = [](auto& knob, auto&& field) {
  field("name", knob.name);
  field("options", knob.options);
};

constexpr auto kStatedAssertionFields = [](auto& assertion, auto&& field) {
  field("condition", assertion.condition);
  field("message", assertion.message);
  field("arguments", assertion.arguments);
};

constexpr auto kStatedSetFields = [](auto& set, auto&& field) {
  field("pipeline", set.pipeline);
  field.list_if_any("knobs", set.knobs, kStatedKnobFields);
  field.list_if_any("assertions", set.assertions, kStatedAssertionFields);
};

void to_json(nlohmann::json& json, const StatedSet& set) {
  write_fields(json, set, kStatedSetFields);
  for (const StatedTerm& term : set.terms) {
    nlohmann::json& each = json["terms"].emplace_back();
    write_fields(each, term, kTermFields);
    each["kind"] = static_cast<int>(term.kind);
  }
}

void from_json(const nlohmann::json& json, StatedSet& set) {
  read_fields(json, set, kStatedSetFields);
  for (const nlohmann::json& each : json.value("terms", nlohmann::json::array())) {
    StatedTerm& term = set.terms.emplace_back();
    read_fields(each, term, kTermFields);
    const int kind = exact<int>(each.at("kind"));
    constexpr int kLast = static_cast<int>(StatedTermKind::kIfThenElse);
    if (kind < 0 || kind > kLast) refuse_json(fmt::format("{} is no kind of term", kind));
    term.kind = static_cast<StatedTermKind>(kind);
  }
}

}  // namespace hone::iree
