#include "space/space.h"

#include <algorithm>

#include "base/text.h"
#include "space/compiled_space.h"
#include "space/configuration.h"

namespace hone::space {
namespace {

// The name of a variable in `expression` that is not one of `variables`.
std::optional<std::string> foreign_variable(const Expression& expression,
                                            const std::vector<Variable>& variables) {
  if (expression.operation() == Operator::kVariable) {
    const std::size_t index = expression.variable_index();
    const bool own =
        index < variables.size() && variables[index].expression.is_same_node(expression);
    if (!own) return expression.variable_name();
  }
  for (const Expression& operand : expression.operands()) {
    if (auto name = foreign_variable(operand, variables)) return name;
  }
  return std::nullopt;
}

void drop_repeated(std::vector<Value>& values) {
  std::vector<Value> unique;
  for (const Value value : values) {
    if (std::ranges::find(unique, value) == unique.end()) unique.push_back(value);
  }
  values = std::move(unique);
}

bool is_in_reach(Value value) {
  return -kInfinity < value && value < kInfinity;
}

}  // namespace

Expression SpaceBuilder::add(Variable variable) {
  std::vector<Variable>& variables = definition_.variables;
  const auto fail = [this](tl::unexpected<Error> error) {
    if (!error_) error_ = std::move(error).value();
  };
  const bool repeated = std::ranges::any_of(
      variables, [&](const Variable& other) { return other.name == variable.name; });
  if (repeated) fail(input_error("'{}' is stated twice in one space", variable.name));
  if (variables.size() == kMaximumVariables) {
    fail(input_error("a space may have at most {} knobs and auxiliary variables",
                     kMaximumVariables));
  }
  const std::vector<Value>& values = variable.values;
  if (variable.ranged ? variable.lower > variable.upper : values.empty()) {
    fail(input_error("the domain of '{}' is empty", variable.name));
  }
  if (!is_in_reach(variable.lower) || !is_in_reach(variable.upper)) {
    fail(input_error("the domain of '{}' leaves the integers below 2^62", variable.name));
  }
  const Expression expression = Expression::variable(variables.size(), variable.name);
  variable.expression = expression;
  variables.push_back(std::move(variable));
  return expression;
}

Expression SpaceBuilder::knob(std::string name, std::string description,
                              std::vector<Value> values) {
  drop_repeated(values);
  const auto [low, high] =
      values.empty() ? std::ranges::minmax_result<Value>{0, 0} : std::ranges::minmax(values);
  return add({.name = std::move(name),
              .description = std::move(description),
              .values = std::move(values),
              .lower = low,
              .upper = high});
}

Expression SpaceBuilder::knob_range(std::string name, std::string description, Value lower,
                                    Value upper) {
  return add({.name = std::move(name),
              .description = std::move(description),
              .ranged = true,
              .lower = lower,
              .upper = upper});
}

Expression SpaceBuilder::auxiliary(std::string name, Value lower, Value upper) {
  return add(
      {.name = std::move(name), .auxiliary = true, .ranged = true, .lower = lower, .upper = upper});
}

void SpaceBuilder::require(std::string name, std::string reason, Expression expression,
                           std::vector<Expression> arguments) {
  definition_.constraints.push_back({std::move(name), std::move(reason), Hardness::kHard,
                                     std::move(expression), std::move(arguments)});
}

void SpaceBuilder::prefer(std::string name, std::string reason, Expression expression,
                          std::vector<Expression> arguments) {
  definition_.constraints.push_back({std::move(name), std::move(reason), Hardness::kSoft,
                                     std::move(expression), std::move(arguments)});
}

bool SpaceBuilder::oppose(std::string_view name) {
  Expression kept = true;
  const auto is_opposed = [&](const Constraint& constraint) {
    return constraint.name == name && constraint.hardness == Hardness::kHard;
  };
  for (const Constraint& constraint : definition_.constraints)
    if (is_opposed(constraint)) kept = kept && constraint.expression;
  if (std::erase_if(definition_.constraints, is_opposed) == 0) return false;
  require(fmt::format("not: {}", name), fmt::format("breaks '{}'", name), !kept);
  return true;
}

Result<Space> SpaceBuilder::build(SpaceOptions options) const {
  if (error_) return tl::unexpected(*error_);
  for (const Constraint& constraint : definition_.constraints) {
    std::vector<Expression> expressions = constraint.arguments;
    expressions.push_back(constraint.expression);
    for (const Expression& expression : expressions) {
      if (const auto name = foreign_variable(expression, definition_.variables)) {
        return input_error("constraint '{}' uses '{}', a variable of another space",
                           constraint.name, *name);
      }
    }
  }
  HONE_ASSIGN(auto compiled, CompiledSpace::compile(definition_, options));
  return Space(std::move(compiled));
}

bool contains(const Knob& knob, Value value) {
  if (knob.range) return knob.range->first <= value && value <= knob.range->second;
  return std::ranges::find(knob.values, value) != knob.values.end();
}

Space Space::unite(std::string selector, std::string description, std::vector<Space> parts) {
  return Space(UnitedSpace::make(std::move(selector), std::move(description), std::move(parts)));
}

const std::vector<Space>& Space::parts() const {
  static const std::vector<Space> kNone;
  return united_ ? united_->parts() : kNone;
}

const std::vector<Knob>& Space::knobs() const {
  if (united_) return united_->knobs();
  return compiled_->knobs();
}

const std::vector<Constraint>& Space::constraints() const {
  if (united_) return united_->constraints();
  return compiled_->definition().constraints;
}

Result<std::size_t> Space::knob_index(std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < knobs().size(); ++i) {
    if (knobs()[i].name == name) return i;
    names.push_back(knobs()[i].name);
  }
  const std::string hint = did_you_mean(name, names);
  return input_error("no knob is called '{}'{}{}", name, hint,
                     hint.empty() ? fmt::format("; the knobs are {}", fmt::join(names, ", ")) : "");
}

const std::vector<Value>& Space::narrowed(std::size_t index) const {
  if (united_) return united_->narrowed(index);
  return compiled_->narrowed()[index];
}

Count Space::count() const {
  if (united_) return united_->count();
  const Diagram* diagram = compiled_->diagram();
  if (diagram == nullptr) return {compiled_->bound(), false};
  return {diagram->count(), true};
}

bool Space::empty() const {
  if (united_)
    return std::all_of(parts().begin(), parts().end(),
                       [](const Space& part) { return part.empty(); });
  const Diagram* diagram = compiled_->diagram();
  return diagram != nullptr ? diagram->count() == 0 : !enumerate().next().has_value();
}

Result<Configuration> Space::at(std::uint64_t index) const {
  if (united_) return united_->at(index);
  const Diagram* diagram = compiled_->diagram();
  if (diagram == nullptr) {
    return failure(
        "configuration {} cannot be found by its index: the counts of this space exceed the memory "
        "cap of {} MiB",
        index, compiled_->options().memory_cap >> 20);
  }
  if (index >= diagram->count()) {
    return input_error("there is no configuration {}: the space has {}", index,
                       format_count(diagram->count()));
  }
  Configuration configuration = compiled_->start();
  std::uint32_t node = diagram->root();
  for (std::size_t depth = 0; depth < diagram->layers().size(); ++depth) {
    const Diagram::Layer& layer = diagram->layers()[depth];
    const auto first = layer.before.begin() + layer.nodes[node].first;
    const auto last = layer.before.begin() + layer.nodes[node].last;
    const auto above = std::upper_bound(first, last, index);
    const auto edge = static_cast<std::size_t>(above - layer.before.begin()) - 1;
    index -= layer.before[edge];
    for (std::size_t i = 0; i < layer.width; ++i) {
      configuration.values[compiled_->plan().levels[depth].outputs[i].knob] =
          layer.values[edge * layer.width + i];
    }
    node = layer.children[edge];
  }
  return configuration;
}

Enumerator Space::enumerate() const {
  if (united_) return Enumerator(united_);
  return Enumerator(compiled_);
}

bool Space::is_computed(std::size_t index) const {
  if (united_) return united_->is_computed(index);
  return compiled_->computed()[index];
}

bool Space::is_legal(const Configuration& configuration) const {
  if (united_) {
    const auto part = united_->split(configuration);
    return part && parts()[part->first].is_legal(part->second);
  }
  Configuration copy = configuration;
  return compiled_->holds(copy, false);
}

std::vector<Configuration> Space::neighbours(const Configuration& configuration) const {
  if (united_) return united_->neighbours(configuration);
  std::vector<Configuration> found;
  if (configuration.values.size() != knobs().size()) return found;
  for (std::size_t knob = 0; knob < knobs().size(); ++knob) {
    if (is_computed(knob)) continue;
    for (const Value value : narrowed(knob)) {
      if (value == configuration.values[knob]) continue;
      Configuration candidate = configuration;
      candidate.values[knob] = value;
      if (compiled_->holds(candidate, true)) found.push_back(std::move(candidate));
    }
  }
  return found;
}

Result<Value> Space::value(const Configuration& configuration, std::string_view name) const {
  HONE_ASSIGN(const std::size_t index, knob_index(name));
  return configuration.values[index];
}

Result<Space> Space::relax(const std::vector<std::string>& names) const {
  if (united_) {
    HONE_ASSIGN(auto united, united_->relax(names));
    return Space(std::move(united));
  }
  Definition definition = compiled_->definition();
  std::vector<std::string> soft;
  for (const Constraint& constraint : definition.constraints) {
    if (constraint.hardness == Hardness::kSoft) soft.push_back(constraint.name);
  }
  for (const std::string& name : names) {
    if (name == "all" || std::ranges::find(soft, name) != soft.end()) continue;
    const bool hard =
        std::ranges::any_of(definition.constraints,
                            [&](const Constraint& constraint) { return constraint.name == name; });
    if (hard) {
      return input_error("constraint '{}' is hard: only soft constraints can be relaxed{}", name,
                         soft.empty() ? "" : fmt::format(" ({})", fmt::join(soft, ", ")));
    }
    const std::string hint = did_you_mean(name, soft);
    const std::string all =
        soft.empty() ? "; there are none" : fmt::format("; they are {}", fmt::join(soft, ", "));
    return input_error("no soft constraint is called '{}'{}", name, hint.empty() ? all : hint);
  }
  std::erase_if(definition.constraints, [&](const Constraint& constraint) {
    const bool named = std::ranges::any_of(
        names, [&](const std::string& name) { return name == "all" || name == constraint.name; });
    return named && constraint.hardness == Hardness::kSoft;
  });
  HONE_ASSIGN(auto compiled, CompiledSpace::compile(std::move(definition), compiled_->options()));
  return Space(std::move(compiled));
}

namespace {

class Checker {
 public:
  Checker(const CompiledSpace& space, const Configuration& configuration)
      : space_(space), values_(space.definition().variables.size(), 0) {
    kept_.variables = space.definition().variables;
    for (std::size_t i = 0; i < space.knobs().size(); ++i) {
      const std::size_t variable = space.knob_variables()[i];
      const Value value = configuration.values[i];
      values_[variable] = value;
      kept_.variables[variable].ranged = false;
      kept_.variables[variable].values = {value};
      kept_.variables[variable].lower = kept_.variables[variable].upper = value;
    }
  }

  std::vector<Violation> violations() {
    std::vector<Violation> found;
    for (const Constraint& constraint : space_.definition().constraints) {
      const bool kept = is_about_auxiliaries(constraint)
                            ? satisfiable_with(constraint)
                            : evaluate(constraint.expression, values_).value_or(0) != 0;
      if (!kept) found.push_back({constraint.name, constraint.hardness, reason(constraint)});
    }
    return found;
  }

 private:
  bool is_about_auxiliaries(const Constraint& constraint) const {
    const std::vector<std::size_t> variables = variables_of(constraint.expression);
    return std::ranges::any_of(variables, [&](std::size_t variable) {
      return space_.definition().variables[variable].auxiliary;
    });
  }

  // Whether some values of the auxiliary variables satisfy this constraint and those kept before.
  // If so, it is kept too.
  bool satisfiable_with(const Constraint& constraint) {
    kept_.constraints.push_back(constraint);
    const auto compiled = CompiledSpace::compile(kept_, space_.options());
    // A space that does not compile counts as satisfiable: a later constraint bounds its variable,
    // and decides.
    const bool satisfiable = !compiled || Enumerator(*compiled).next().has_value();
    if (!satisfiable) kept_.constraints.pop_back();
    return satisfiable;
  }

  std::string reason(const Constraint& constraint) const {
    std::string text = reason_text(
        constraint, [this](const Expression& expression) { return argument(expression); });
    std::vector<std::string> values;
    for (const std::size_t i : variables_of(constraint.expression)) {
      const Variable& variable = space_.definition().variables[i];
      if (!variable.auxiliary) values.push_back(fmt::format("{} = {}", variable.name, values_[i]));
    }
    if (text.empty()) text = to_string(constraint.expression);
    return values.empty() ? text : fmt::format("{}: {}", text, fmt::join(values, ", "));
  }

  std::string argument(const Expression& expression) const {
    const std::vector<std::size_t> variables = variables_of(expression);
    const bool known = std::ranges::none_of(variables, [&](std::size_t variable) {
      return space_.definition().variables[variable].auxiliary;
    });
    if (!known) return to_string(expression);
    const auto value = evaluate(expression, values_);
    return value ? std::to_string(*value) : "undefined";
  }

  const CompiledSpace& space_;
  std::vector<Value> values_;  // by variable; of the knobs only
  Definition kept_;  // knobs fixed to their values, and the auxiliary constraints kept so far
};

std::string words_of_domain(const Knob& knob) {
  if (knob.range) return fmt::format("in [{}, {}]", knob.range->first, knob.range->second);
  return fmt::format("one of {}", domain_text(knob.values));
}

}  // namespace

std::vector<Violation> Space::check(const Configuration& configuration) const {
  if (united_) return united_->check(configuration);
  if (is_legal(configuration)) return {};
  if (configuration.values.size() != knobs().size()) {
    return {{"domain", Hardness::kHard,
             fmt::format("a configuration has one value for each of the {} knobs; this one has {}",
                         knobs().size(), configuration.values.size())}};
  }
  std::vector<Violation> found;
  for (std::size_t i = 0; i < knobs().size(); ++i) {
    const Knob& knob = knobs()[i];
    if (contains(knob, configuration.values[i])) continue;
    found.push_back({"domain", Hardness::kHard,
                     fmt::format("{} is {}: {} = {}", knob.name, words_of_domain(knob), knob.name,
                                 configuration.values[i])});
  }
  for (Violation& violation : Checker(*compiled_, configuration).violations()) {
    found.push_back(std::move(violation));
  }
  return found;
}

}  // namespace hone::space
