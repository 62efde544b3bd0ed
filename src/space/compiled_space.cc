#include "space/compiled_space.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "space/order.h"

namespace hone::space {
namespace {

Domain domain_of(const Variable& variable) {
  Domain domain;
  domain.interval = {variable.lower, variable.upper};
  if (!variable.ranged) {
    domain.listed = true;
    domain.values = variable.values;
  }
  return domain;
}

// Returns the requirements with each variable that has one value replaced by it.
std::vector<TermId> fix_single_values(const TermGraph& from, const std::vector<TermId>& old,
                                      const std::vector<Domain>& domains, TermGraph& to) {
  std::vector<TermId> replacements;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    replacements.push_back(domains[i].interval.is_single() ? to.constant(domains[i].interval.lower)
                                                           : to.variable(i));
  }
  std::vector<TermId> requirements;
  for (const TermId requirement : old) {
    to.split_requirement(to.add(from, requirement, replacements), requirements);
  }
  return requirements;
}

Status list_tried(const Definition& definition, const TermGraph& graph, const Order& order,
                  std::vector<Domain>& domains) {
  const auto list = [&](const std::vector<Step>& steps,
                        const std::vector<TermId>& requirements) -> Status {
    for (const Step& step : steps) {
      if (step.solved) continue;
      Domain& domain = domains[step.variable];
      if (list_values(graph, requirements, step.variable, SpaceBuilder::kMaximumDomain, domain)) {
        continue;
      }
      const Variable& variable = definition.variables[step.variable];
      return input_error(
          "{} '{}' may have any of {} values in [{}, {}]: state tighter bounds, a list of values, "
          "or an equality that gives it",
          variable.auxiliary ? "auxiliary variable" : "knob", variable.name,
          format_count(domain.size()), domain.interval.lower, domain.interval.upper);
    }
    return {};
  };
  HONE_TRY(list(order.steps, order.requirements));
  for (const Existence& existence : order.existences) {
    HONE_TRY(list(existence.steps, existence.requirements));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const CompiledSpace>> CompiledSpace::compile(Definition definition,
                                                                    SpaceOptions options) {
  std::shared_ptr<CompiledSpace> space(new CompiledSpace);
  space->definition_ = std::move(definition);
  space->options_ = options;
  const std::vector<Variable>& variables = space->definition_.variables;

  TermGraph stated;
  std::vector<TermId> own;
  std::vector<Domain> domains;
  std::vector<std::optional<std::size_t>> knob_of(variables.size());
  std::vector<bool> is_knob(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    own.push_back(stated.variable(i));
    domains.push_back(domain_of(variables[i]));
    is_knob[i] = !variables[i].auxiliary;
    if (!is_knob[i]) continue;
    knob_of[i] = space->knob_variables_.size();
    space->knob_variables_.push_back(i);
  }
  std::vector<TermId> requirements;
  for (const Constraint& constraint : space->definition_.constraints) {
    stated.split_requirement(stated.add(constraint.expression, own), requirements);
  }
  Narrowed narrowed = narrow(stated, std::move(requirements), std::move(domains));
  if (narrowed.feasible) {
    TermGraph graph;
    requirements = fix_single_values(stated, narrowed.requirements, narrowed.domains, graph);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!narrowed.domains[i].interval.is_single()) open.push_back(i);
    }
    const Order order = order_variables(graph, requirements, narrowed.domains, is_knob, open);
    HONE_TRY(list_tried(space->definition_, graph, order, narrowed.domains));
    space->computed_.assign(space->knob_variables_.size(), false);
    for (const Step& step : order.steps) {
      if (!knob_of[step.variable]) continue;
      if (step.solved) {
        space->computed_[*knob_of[step.variable]] = true;
      } else {
        space->tried_.push_back(*knob_of[step.variable]);
      }
    }
    space->plan_ = make_plan(graph, order, narrowed.domains, knob_of);
    for (const Level& level : space->plan_.levels) {
      space->tried_sorted_.push_back(level.values);
      std::ranges::sort(space->tried_sorted_.back());
    }
  } else {
    space->plan_.feasible = false;
    space->computed_.assign(space->knob_variables_.size(), false);
  }
  space->describe(std::move(narrowed.domains));
  return space;
}

void CompiledSpace::describe(std::vector<Domain> domains) {
  for (const std::size_t i : knob_variables_) {
    const Variable& variable = definition_.variables[i];
    Domain& domain = domains[i];
    if (!plan_.feasible) {
      domain = {};
      domain.listed = true;
    }
    // Lists the values of a computed variable only if there are few: its range may be too large.
    if (!domain.listed && domain.size() <= SpaceBuilder::kMaximumDomain)
      domain.values = domain.all_values();
    Knob knob{variable.name, variable.description, variable.values, std::nullopt};
    if (variable.ranged) {
      knob.values = domain.values;
      knob.range = {variable.lower, variable.upper};
    }
    knobs_.push_back(std::move(knob));
    narrowed_.push_back(std::move(domain.values));
  }
}

const Diagram* CompiledSpace::diagram() const {
  std::call_once(diagram_once_, [this] { diagram_ = Diagram::build(plan_, options_.memory_cap); });
  return diagram_ ? &*diagram_ : nullptr;
}

std::uint64_t CompiledSpace::bound() const {
  if (!plan_.feasible) return 0;
  std::uint64_t product = 1;
  for (const Level& level : plan_.levels) {
    if (__builtin_mul_overflow(product, level.values.size(), &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

Configuration CompiledSpace::start() const {
  Configuration configuration;
  configuration.values.resize(knobs_.size());
  for (const Output& output : plan_.fixed) {
    configuration.values[output.knob] = plan_.slots[output.slot];
  }
  return configuration;
}

bool CompiledSpace::holds(Configuration& configuration, bool follow) const {
  if (!plan_.feasible || configuration.values.size() != knobs_.size()) return false;
  for (const Output& output : plan_.fixed) {
    if (configuration.values[output.knob] != plan_.slots[output.slot]) return false;
  }
  std::vector<Value> slots = plan_.slots;
  for (std::size_t depth = 0; depth < plan_.levels.size(); ++depth) {
    const Level& level = plan_.levels[depth];
    const Value value = configuration.values[tried_[depth]];
    const std::vector<Value>& domain = tried_sorted_[depth];
    if (!std::ranges::binary_search(domain, value)) return false;
    slots[level.slot] = value;
    if (!plan_.run(level, slots.data())) return false;
    for (const Output& output : level.outputs) {
      Value& stated = configuration.values[output.knob];
      if (follow) stated = slots[output.slot];
      if (stated != slots[output.slot]) return false;
    }
  }
  return true;
}

}  // namespace hone::space
