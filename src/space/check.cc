#include <algorithm>
#include <utility>

#include "space/compiled_space.h"
#include "space/space.h"
#include "space/space_text.h"
#include "space/united_space.h"

namespace hone::space {
namespace {

class Checker {
 public:
  Checker(const CompiledSpace& space, const Configuration& configuration);

  std::vector<Violation> violations();

 private:
  bool is_about_auxiliaries(const Constraint& constraint) const;
  bool satisfiable_with(const Constraint& constraint);
  std::string reason(const Constraint& constraint) const;
  std::string argument(const Expression& expression) const;

  const CompiledSpace& space_;
  std::vector<Value> values_;  // by variable; of the knobs only
  Definition kept_;  // knobs fixed to their values, and the auxiliary constraints kept so far
};

Checker::Checker(const CompiledSpace& space, const Configuration& configuration)
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

bool Checker::is_about_auxiliaries(const Constraint& constraint) const {
  const std::vector<std::size_t> variables = variables_of(constraint.expression);
  return std::ranges::any_of(variables, [&](std::size_t variable) {
    return space_.definition().variables[variable].auxiliary;
  });
}

// Whether some values of the auxiliary variables satisfy this constraint and those kept before. If
// so, it is kept too.
bool Checker::satisfiable_with(const Constraint& constraint) {
  kept_.constraints.push_back(constraint);
  const auto compiled = CompiledSpace::compile(kept_, space_.options());
  // A space that does not compile counts as satisfiable: a later constraint bounds its variable,
  // and decides.
  const bool satisfiable = !compiled || Enumerator(*compiled).next().has_value();
  if (!satisfiable) kept_.constraints.pop_back();
  return satisfiable;
}

std::string Checker::argument(const Expression& expression) const {
  const std::vector<std::size_t> variables = variables_of(expression);
  const bool known = std::ranges::none_of(variables, [&](std::size_t variable) {
    return space_.definition().variables[variable].auxiliary;
  });
  if (!known) return to_string(expression);
  const auto value = evaluate(expression, values_);
  return value ? std::to_string(*value) : "undefined";
}

std::string Checker::reason(const Constraint& constraint) const {
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

std::vector<Violation> Checker::violations() {
  std::vector<Violation> found;
  for (const Constraint& constraint : space_.definition().constraints) {
    const bool kept = is_about_auxiliaries(constraint)
                          ? satisfiable_with(constraint)
                          : evaluate(constraint.expression, values_).value_or(0) != 0;
    if (!kept) found.push_back({constraint.name, constraint.hardness, reason(constraint)});
  }
  return found;
}

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
