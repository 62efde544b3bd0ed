#include "space/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "space/solve.h"

namespace hone::space {
namespace {

constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

Opcode opcode_of(TermKind kind) {
  switch (kind) {
    case TermKind::kSum:
      return Opcode::kAdd;
    case TermKind::kProduct:
      return Opcode::kMultiply;
    case TermKind::kDivide:
      return Opcode::kDivide;
    case TermKind::kModulo:
      return Opcode::kModulo;
    case TermKind::kExactDivide:
      return Opcode::kExactDivide;
    case TermKind::kMinimum:
      return Opcode::kMinimum;
    case TermKind::kMaximum:
      return Opcode::kMaximum;
    case TermKind::kEqual:
      return Opcode::kEqual;
    case TermKind::kNotEqual:
      return Opcode::kNotEqual;
    case TermKind::kLess:
      return Opcode::kLess;
    case TermKind::kLessEqual:
      return Opcode::kLessEqual;
    case TermKind::kAnd:
      return Opcode::kAnd;
    default:
      return Opcode::kOr;
  }
}

bool is_nary(TermKind kind) {
  return kind == TermKind::kSum || kind == TermKind::kProduct || kind == TermKind::kAnd ||
         kind == TermKind::kOr;
}

// Level 0 is what is known before the first variable; levels of existences follow the others'.
class PlanBuilder {
 public:
  PlanBuilder(TermGraph& graph, const std::vector<Domain>& domains,
              const std::vector<std::optional<std::size_t>>& knob_of)
      : graph_(graph), domains_(domains), knob_of_(knob_of), variable_level_(domains.size(), 0) {}

  Plan build(const Order& order);

 private:
  void add_steps(const std::vector<Step>& steps, std::vector<TermId> requirements,
                 std::vector<std::size_t>& level_ids, bool outputs);
  void add_existence(const Existence& existence);
  std::size_t level_of(TermId term) const;
  Slot new_slot(std::size_t level, Value value = 0);
  Slot ensure(TermId term);
  Slot ensure_nary(TermId term);
  Slot emit(TermId term, Opcode opcode, Slot a, Slot b, Slot c = 0);
  void require(TermId requirement);
  void require_member(Slot slot, std::size_t level, const Domain& domain);
  void find_keys(std::size_t level_count);

  TermGraph& graph_;
  const std::vector<Domain>& domains_;
  const std::vector<std::optional<std::size_t>>& knob_of_;
  std::vector<std::size_t> variable_level_;
  VariableSet assigned_;
  std::vector<Level> levels_;            // by level number
  std::vector<Slot> slot_of_;            // by term
  std::vector<std::size_t> slot_level_;  // by slot
  Plan plan_;
};

std::size_t PlanBuilder::level_of(TermId term) const {
  const VariableSet& variables = graph_[term].variables;
  std::size_t level = 0;
  for (std::size_t i = variables._Find_first(); i < variables.size(); i = variables._Find_next(i)) {
    level = std::max(level, variable_level_[i]);
  }
  return level;
}

Slot PlanBuilder::new_slot(std::size_t level, Value value) {
  plan_.slots.push_back(value);
  slot_level_.push_back(level);
  return static_cast<Slot>(plan_.slots.size() - 1);
}

Slot PlanBuilder::emit(TermId term, Opcode opcode, Slot a, Slot b, Slot c) {
  const std::size_t level = level_of(term);
  const Slot target = new_slot(level);
  levels_[level].code.push_back({opcode, target, a, b, c});
  return target;
}

Slot PlanBuilder::ensure(TermId term) {
  if (slot_of_.size() < graph_.size()) slot_of_.resize(graph_.size(), kNoSlot);
  if (slot_of_[term] != kNoSlot) return slot_of_[term];
  const Term shape = graph_[term];
  Slot slot = kNoSlot;
  if (shape.kind == TermKind::kConstant) {
    slot = new_slot(0, shape.value);
  } else if (is_nary(shape.kind)) {
    slot = ensure_nary(term);
  } else if (shape.kind == TermKind::kLookup) {
    const Slot key = ensure(shape.operands[0]);
    plan_.tables.push_back(graph_.table(shape.value));
    slot = emit(term, Opcode::kLookup, key, static_cast<Slot>(plan_.tables.size() - 1));
  } else if (shape.kind == TermKind::kIfThenElse) {
    const Slot condition = ensure(shape.operands[0]);
    const Slot then = ensure(shape.operands[1]);
    const Slot otherwise = ensure(shape.operands[2]);
    slot = emit(term, Opcode::kSelect, condition, then, otherwise);
  } else {
    const Slot a = ensure(shape.operands[0]);
    const Slot b = ensure(shape.operands[1]);
    slot = emit(term, opcode_of(shape.kind), a, b);
  }
  if (slot_of_.size() < graph_.size()) slot_of_.resize(graph_.size(), kNoSlot);
  slot_of_[term] = slot;
  return slot;
}

// Combines the operands of earlier levels there, so that later levels depend on one value.
Slot PlanBuilder::ensure_nary(TermId term) {
  const Term shape = graph_[term];
  const std::size_t level = level_of(term);
  std::vector<TermId> earlier;
  std::vector<TermId> own;
  for (const TermId operand : shape.operands) {
    (level_of(operand) < level ? earlier : own).push_back(operand);
  }
  if (earlier.size() >= 2 && !own.empty()) {
    TermId partial = 0;
    if (shape.kind == TermKind::kSum) {
      partial = graph_.sum(earlier);
    } else if (shape.kind == TermKind::kProduct) {
      partial = graph_.product(earlier);
    } else {
      partial = graph_.logical(shape.kind, earlier);
    }
    earlier = {partial};
  }
  own.insert(own.begin(), earlier.begin(), earlier.end());
  Slot result = ensure(own[0]);
  for (std::size_t i = 1; i < own.size(); ++i) {
    result = emit(term, opcode_of(shape.kind), result, ensure(own[i]));
  }
  return result;
}

void PlanBuilder::require(TermId requirement) {
  const Term shape = graph_[requirement];
  const std::size_t level = level_of(requirement);
  Instruction test{Opcode::kRequireTrue, 0, 0, 0, 0};
  switch (shape.kind) {
    case TermKind::kEqual:
    case TermKind::kNotEqual:
    case TermKind::kLess:
    case TermKind::kLessEqual: {
      TermId a = shape.operands[0];
      TermId b = shape.operands[1];
      test.opcode = shape.kind == TermKind::kEqual      ? Opcode::kRequireEqual
                    : shape.kind == TermKind::kNotEqual ? Opcode::kRequireNotEqual
                    : shape.kind == TermKind::kLess     ? Opcode::kRequireLess
                                                        : Opcode::kRequireLessEqual;
      if (shape.kind == TermKind::kEqual) {
        if (graph_.is_constant(a, 0)) std::swap(a, b);
        const Term remainder = graph_[a];
        if (graph_.is_constant(b, 0) && remainder.kind == TermKind::kModulo) {
          test.opcode = Opcode::kRequireMultiple;
          a = remainder.operands[0];
          b = remainder.operands[1];
        }
      }
      test.a = ensure(a);
      test.b = ensure(b);
      break;
    }
    default:
      test.a = ensure(requirement);
      break;
  }
  levels_[level].code.push_back(test);
}

void PlanBuilder::require_member(Slot slot, std::size_t level, const Domain& domain) {
  Domain sorted = domain;
  std::sort(sorted.values.begin(), sorted.values.end());
  plan_.domains.push_back(std::move(sorted));
  levels_[level].code.push_back(
      {Opcode::kRequireMember, 0, slot, static_cast<Slot>(plan_.domains.size() - 1), 0});
}

void PlanBuilder::add_steps(const std::vector<Step>& steps, std::vector<TermId> requirements,
                            std::vector<std::size_t>& level_ids, bool outputs) {
  const auto require_ready = [&] {
    std::erase_if(requirements, [&](TermId requirement) {
      if ((graph_[requirement].variables & ~assigned_).any()) return false;
      require(requirement);
      return true;
    });
  };
  require_ready();
  for (const Step& step : steps) {
    std::size_t level = levels_.size();
    if (step.solved) {
      const TermId solution = solve(graph_, *step.solved, step.variable);
      level = level_of(solution);
      const Slot slot = ensure(solution);
      variable_level_[step.variable] = level;
      const TermId variable = graph_.variable(step.variable);
      slot_of_.resize(graph_.size(), kNoSlot);
      slot_of_[variable] = slot;
      require_member(slot, level, domains_[step.variable]);
    } else {
      levels_.emplace_back();
      level_ids.push_back(level);
      levels_[level].variable = step.variable;
      levels_[level].values = domains_[step.variable].values;
      levels_[level].slot = new_slot(level);
      variable_level_[step.variable] = level;
      const TermId variable = graph_.variable(step.variable);
      slot_of_.resize(graph_.size(), kNoSlot);
      slot_of_[variable] = levels_[level].slot;
    }
    assigned_.set(step.variable);
    if (outputs && knob_of_[step.variable]) {
      levels_[level].outputs.push_back(
          {*knob_of_[step.variable], slot_of_[graph_.variable(step.variable)]});
    }
    require_ready();
  }
}

void PlanBuilder::add_existence(const Existence& existence) {
  VariableSet inner;
  for (const Step& step : existence.steps) inner.set(step.variable);
  std::size_t outer_level = 0;
  std::vector<TermId> all = existence.requirements;
  for (const Step& step : existence.steps) {
    if (step.solved) all.push_back(*step.solved);
  }
  for (const TermId requirement : all) {
    const VariableSet& variables = graph_[requirement].variables;
    for (std::size_t i = variables._Find_first(); i < variables.size();
         i = variables._Find_next(i)) {
      if (!inner.test(i)) outer_level = std::max(outer_level, variable_level_[i]);
    }
  }
  std::vector<std::size_t> level_ids;
  add_steps(existence.steps, existence.requirements, level_ids, false);
  std::vector<Level> levels;
  for (const std::size_t id : level_ids) levels.push_back(std::move(levels_[id]));
  plan_.existences.push_back(std::move(levels));
  levels_[outer_level].code.push_back(
      {Opcode::kRequireExistence, 0, static_cast<Slot>(plan_.existences.size() - 1), 0, 0});
}

// The slots that an instruction reads, whichever of a, b and c these are.
std::vector<Slot> reads(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kRequireExistence:
      return {};
    case Opcode::kLookup:
    case Opcode::kRequireTrue:
    case Opcode::kRequireMember:
      return {instruction.a};
    case Opcode::kSelect:
      return {instruction.a, instruction.b, instruction.c};
    default:
      return {instruction.a, instruction.b};
  }
}

void PlanBuilder::find_keys(std::size_t level_count) {
  std::vector<std::size_t> last_use(plan_.slots.size(), 0);
  const auto use = [&](const std::vector<Instruction>& code, std::size_t level) {
    for (const Instruction& instruction : code) {
      for (const Slot slot : reads(instruction)) last_use[slot] = std::max(last_use[slot], level);
    }
  };
  for (std::size_t level = 1; level < level_count; ++level) {
    use(levels_[level].code, level);
    for (const Instruction& instruction : levels_[level].code) {
      if (instruction.opcode != Opcode::kRequireExistence) continue;
      for (const Level& inner : plan_.existences[instruction.a]) use(inner.code, level);
    }
    // A computed knob that is a value of an earlier level is still read here.
    for (const Output& output : levels_[level].outputs) {
      last_use[output.slot] = std::max(last_use[output.slot], level);
    }
  }
  for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot) {
    const std::size_t from = slot_level_[slot];
    if (from == 0) continue;
    for (std::size_t level = from + 1; level < level_count && level <= last_use[slot]; ++level) {
      levels_[level].key.push_back(static_cast<Slot>(slot));
    }
  }
}

Plan PlanBuilder::build(const Order& order) {
  levels_.emplace_back();
  slot_of_.assign(graph_.size(), kNoSlot);
  std::vector<std::size_t> level_ids;
  add_steps(order.steps, order.requirements, level_ids, true);
  const std::size_t level_count = levels_.size();
  for (const Existence& existence : order.existences) add_existence(existence);
  find_keys(level_count);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (knob_of_[i] && !assigned_.test(i)) {
      plan_.fixed.push_back({*knob_of_[i], new_slot(0, domains_[i].interval.lower)});
    }
  }
  for (const Output& output : levels_[0].outputs) plan_.fixed.push_back(output);
  plan_.feasible = plan_.run(levels_[0], plan_.slots.data());
  for (std::size_t level = 1; level < level_count; ++level) {
    plan_.levels.push_back(std::move(levels_[level]));
  }
  return std::move(plan_);
}

}  // namespace

Plan make_plan(TermGraph& graph, const Order& order, const std::vector<Domain>& domains,
               const std::vector<std::optional<std::size_t>>& knob_of) {
  return PlanBuilder(graph, domains, knob_of).build(order);
}

}  // namespace hone::space
