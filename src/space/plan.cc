#include "space/plan.h"

#include <algorithm>
#include <limits>

namespace hone::space {
namespace {

constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

bool is_nary(Operator kind) {
  return kind == Operator::kAdd || kind == Operator::kMultiply || kind == Operator::kAnd ||
         kind == Operator::kOr;
}

// The slots that an instruction reads, whichever of a, b and c these are.
std::vector<Slot> reads(const Instruction& instruction) {
  switch (instruction.operation) {
    case Operator::kConstant:
      return {};
    case Operator::kVariable:
    case Operator::kLookup:
      return {instruction.a};
    case Operator::kIfThenElse:
      return {instruction.a, instruction.b, instruction.c};
    default:
      return {instruction.a, instruction.b};
  }
}

// Level 0 holds what is known before the first variable. The levels of existences follow the
// others'.
class PlanBuilder {
 public:
  PlanBuilder(TermGraph& graph, const std::vector<Domain>& domains,
              const std::vector<std::optional<std::size_t>>& knob_of)
      : graph_(graph), domains_(domains), knob_of_(knob_of), variable_level_(domains.size(), 0) {}

  EnumerationPlan build(const Order& order) {
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

 private:
  void add_steps(const std::vector<Step>& steps, std::vector<TermId> requirements,
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
        place(step.variable, level, slot);
        require_member(slot, level, domains_[step.variable]);
      } else {
        levels_.emplace_back();
        level_ids.push_back(level);
        levels_[level].variable = step.variable;
        levels_[level].values = domains_[step.variable].values;
        levels_[level].slot = new_slot(level);
        place(step.variable, level, levels_[level].slot);
      }
      assigned_.set(step.variable);
      if (outputs && knob_of_[step.variable]) {
        levels_[level].outputs.push_back(
            {*knob_of_[step.variable], slot_of_[graph_.variable(step.variable)]});
      }
      require_ready();
    }
  }

  void add_existence(const Existence& existence) {
    VariableSet inner;
    for (const Step& step : existence.steps) inner.set(step.variable);
    std::size_t outer_level = 0;
    std::vector<TermId> all = existence.requirements;
    for (const Step& step : existence.steps) {
      if (step.solved) all.push_back(*step.solved);
    }
    for (const TermId requirement : all) {
      for (const std::size_t i : indices(graph_[requirement].variables & ~inner))
        outer_level = std::max(outer_level, variable_level_[i]);
    }
    std::vector<std::size_t> level_ids;
    add_steps(existence.steps, existence.requirements, level_ids, false);
    std::vector<Level> levels;
    for (const std::size_t id : level_ids) levels.push_back(std::move(levels_[id]));
    plan_.existences.push_back(std::move(levels));
    levels_[outer_level].code.push_back(
        {.test = Test::kExistence, .b = static_cast<Slot>(plan_.existences.size() - 1)});
  }

  std::size_t level_of(TermId term) const {
    std::size_t level = 0;
    for (const std::size_t i : indices(graph_[term].variables))
      level = std::max(level, variable_level_[i]);
    return level;
  }

  Slot new_slot(std::size_t level, Value value = 0) {
    plan_.slots.push_back(value);
    slot_level_.push_back(level);
    return static_cast<Slot>(plan_.slots.size() - 1);
  }

  Slot ensure(TermId term) {
    if (slot_of_.size() < graph_.size()) slot_of_.resize(graph_.size(), kNoSlot);
    if (slot_of_[term] != kNoSlot) return slot_of_[term];
    const Term shape = graph_[term];
    Slot slot = kNoSlot;
    if (shape.kind == Operator::kConstant) {
      slot = new_slot(0, shape.value);
    } else if (is_nary(shape.kind)) {
      slot = ensure_nary(term);
    } else if (shape.kind == Operator::kLookup) {
      const Slot key = ensure(shape.operands[0]);
      plan_.tables.push_back(graph_.table(shape.value));
      slot = emit(term, key, static_cast<Slot>(plan_.tables.size() - 1));
    } else if (shape.kind == Operator::kIfThenElse) {
      const Slot condition = ensure(shape.operands[0]);
      const Slot then = ensure(shape.operands[1]);
      const Slot otherwise = ensure(shape.operands[2]);
      slot = emit(term, condition, then, otherwise);
    } else {
      const Slot a = ensure(shape.operands[0]);
      const Slot b = ensure(shape.operands[1]);
      slot = emit(term, a, b);
    }
    if (slot_of_.size() < graph_.size()) slot_of_.resize(graph_.size(), kNoSlot);
    slot_of_[term] = slot;
    return slot;
  }

  // Combines the operands of earlier levels at their level, so that later levels depend on one
  // value.
  Slot ensure_nary(TermId term) {
    const Term shape = graph_[term];
    const std::size_t level = level_of(term);
    std::vector<TermId> earlier;
    std::vector<TermId> own;
    for (const TermId operand : shape.operands) {
      (level_of(operand) < level ? earlier : own).push_back(operand);
    }
    if (earlier.size() >= 2 && !own.empty()) {
      earlier = {graph_.make(shape.kind, earlier)};
    }
    own.insert(own.begin(), earlier.begin(), earlier.end());
    Slot result = ensure(own[0]);
    for (std::size_t i = 1; i < own.size(); ++i) {
      result = emit(term, result, ensure(own[i]));
    }
    return result;
  }

  Slot emit(TermId term, Slot a, Slot b, Slot c = 0) {
    const std::size_t level = level_of(term);
    const Slot target = new_slot(level);
    levels_[level].code.push_back({graph_[term].kind, Test::kNone, target, a, b, c});
    return target;
  }

  void place(std::size_t variable, std::size_t level, Slot slot) {
    variable_level_[variable] = level;
    const TermId term = graph_.variable(variable);
    slot_of_.resize(graph_.size(), kNoSlot);
    slot_of_[term] = slot;
  }

  void require(TermId requirement) {
    const Term shape = graph_[requirement];
    const std::size_t level = level_of(requirement);
    Instruction test{.operation = Operator::kVariable, .test = Test::kTrue};
    if (is_comparison(shape.kind)) {
      test.operation = shape.kind;
      TermId a = shape.operands[0];
      TermId b = shape.operands[1];
      if (shape.kind == Operator::kEqual) {
        if (graph_.is_constant(a, 0)) std::swap(a, b);
        const Term remainder = graph_[a];
        if (graph_.is_constant(b, 0) && remainder.kind == Operator::kModulo) {
          test.operation = Operator::kModulo;
          test.test = Test::kZero;
          a = remainder.operands[0];
          b = remainder.operands[1];
        }
      }
      test.a = ensure(a);
      test.b = ensure(b);
    } else {
      test.a = ensure(requirement);
    }
    levels_[level].code.push_back(test);
  }

  void require_member(Slot slot, std::size_t level, const Domain& domain) {
    Domain sorted = domain;
    std::ranges::sort(sorted.values);
    plan_.domains.push_back(std::move(sorted));
    levels_[level].code.push_back({.operation = Operator::kVariable,
                                   .test = Test::kMember,
                                   .a = slot,
                                   .b = static_cast<Slot>(plan_.domains.size() - 1)});
  }

  void find_keys(std::size_t level_count) {
    std::vector<std::size_t> last_use(plan_.slots.size(), 0);
    const auto use = [&](const std::vector<Instruction>& code, std::size_t level) {
      for (const Instruction& instruction : code) {
        for (const Slot slot : reads(instruction)) last_use[slot] = std::max(last_use[slot], level);
      }
    };
    for (std::size_t level = 1; level < level_count; ++level) {
      use(levels_[level].code, level);
      for (const Instruction& instruction : levels_[level].code) {
        if (instruction.test != Test::kExistence) continue;
        for (const Level& inner : plan_.existences[instruction.b]) use(inner.code, level);
      }
      // A computed knob may be a value of an earlier level, and is then read here.
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

  TermGraph& graph_;
  const std::vector<Domain>& domains_;
  const std::vector<std::optional<std::size_t>>& knob_of_;
  std::vector<std::size_t> variable_level_;
  VariableSet assigned_;
  std::vector<Level> levels_;            // by level number
  std::vector<Slot> slot_of_;            // by term
  std::vector<std::size_t> slot_level_;  // by slot
  EnumerationPlan plan_;
};

}  // namespace

EnumerationPlan make_plan(TermGraph& graph, const Order& order, const std::vector<Domain>& domains,
                          const std::vector<std::optional<std::size_t>>& knob_of) {
  return PlanBuilder(graph, domains, knob_of).build(order);
}

bool EnumerationPlan::has_solution(const std::vector<Level>& inner, std::size_t depth,
                                   Value* values) const {
  if (depth == inner.size()) return true;
  const Level& level = inner[depth];
  for (const Value value : level.values) {
    values[level.slot] = value;
    if (run(level, values) && has_solution(inner, depth + 1, values)) return true;
  }
  return false;
}

inline Value EnumerationPlan::value_of(const Instruction& i, const Value* s) const {
  switch (i.operation) {
    case Operator::kConstant:
      return 0;
    case Operator::kVariable:
      return s[i.a];
    case Operator::kIfThenElse:
      return s[i.a] == kUndefined ? kUndefined : s[s[i.a] != 0 ? i.b : i.c];
    case Operator::kLookup:
      return tables[i.b].find(s[i.a]);
    default:
      return apply(i.operation, s[i.a], s[i.b]);
  }
}

bool EnumerationPlan::run(const Level& level, Value* s) const {
  for (const Instruction& i : level.code) {
    const Value value = value_of(i, s);
    bool holds = true;
    switch (i.test) {
      case Test::kNone:
        s[i.target] = value;
        break;
      case Test::kTrue:
        holds = value == 1;
        break;
      case Test::kZero:
        holds = value == 0;
        break;
      case Test::kMember: {
        const Domain& domain = domains[i.b];
        holds = domain.interval.contains(value) &&
                (!domain.listed || std::ranges::binary_search(domain.values, value));
        break;
      }
      case Test::kExistence:
        holds = has_solution(existences[i.b], 0, s);
        break;
    }
    if (!holds) return false;
  }
  return true;
}

}  // namespace hone::space
