// Straight-line code that enumerates a space, and the order in which it assigns the variables. Each
// tried variable has a level, with the arithmetic and the tests that become possible once it has a
// value. Equalities give some variables from others (subgroups == tile / (16 * rows)).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "space/arithmetic.h"
#include "space/narrow.h"
#include "space/term_graph.h"

namespace hone::space {

// Returns the solution as a term of the other variables, undefined where there is none. The
// requirement holds exactly where the variable equals that term. It must be an equality that can be
// solved for the variable, as in Step::solved.
TermId solve(TermGraph& graph, TermId requirement, std::size_t variable);

// Next variable to assign: tried from its domain, or computed from earlier ones.
struct Step {
  std::size_t variable = 0;
  std::optional<TermId> solved;  // the equality it is computed from
};

// Auxiliary variables that no equality computes: some values of them must exist. Requirements bind
// them to each other; the other variables of `requirements` are already assigned.
struct Existence {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps`
};

struct Order {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps` or over `existences`
  std::vector<Existence> existences;
};

// Chooses an order in which the rest of the search depends on little. `is_knob[i]`: variable i is a
// knob (the others are auxiliary). All requirements have variables. Deterministic in the arguments.
Order order_variables(const TermGraph& graph, std::span<const TermId> requirements,
                      std::span<const Domain> domains, const std::vector<bool>& is_knob,
                      std::span<const std::size_t> variables);

// Memory cell in which a level keeps a value while it runs.
using Slot = std::uint32_t;

// Use of an instruction's value. All but kNone are tests, and a failed test ends the level.
enum class Test : std::uint8_t {
  kNone,  // the slot `target` keeps it
  kTrue,
  kZero,
  kMember,     // it is in domain b
  kExistence,  // existence b has a solution; there is no value
};

// Instruction of a level. Its value is `operation` on the slots a, b and c. kVariable gives slot a,
// kLookup the entry for slot a in table b; kConstant has no value.
struct Instruction {
  Operator operation = Operator::kConstant;
  Test test = Test::kNone;
  Slot target = 0;
  Slot a = 0, b = 0, c = 0;
};

struct Output {
  std::size_t knob;  // position among the knobs
  Slot slot;
};

struct Level {
  std::size_t variable = 0;   // the one that is tried
  Slot slot = 0;              // and where its value goes
  std::vector<Value> values;  // in the stable order
  std::vector<Instruction> code;
  // Slots of earlier levels that this level or a later one reads. The subtree depends on these.
  std::vector<Slot> key;
  std::vector<Output> outputs;  // the knobs that have their value after this level
};

struct EnumerationPlan {
  bool feasible = true;
  std::vector<Level> levels;
  std::vector<std::vector<Level>> existences;
  std::vector<LookupTable> tables;
  std::vector<Domain> domains;  // of computed variables
  std::vector<Value> slots;     // constants in place, the rest arbitrary
  std::vector<Output> fixed;    // knobs that have one value, in their slots

  // Runs the code of a level whose slot has its value. Returns whether the requirements hold.
  bool run(const Level& level, Value* slots) const;
  // Whether the levels from `depth` on have a solution.
  bool has_solution(const std::vector<Level>& levels, std::size_t depth, Value* slots) const;

 private:
  Value value_of(const Instruction& instruction, const Value* slots) const;
};

// Makes the plan. Domains of variables that `order` tries must be lists; a variable that is not in
// `order` has one value. `knob_of`: by variable, its position among the knobs, none for an
// auxiliary one.
EnumerationPlan make_plan(TermGraph& graph, const Order& order, const std::vector<Domain>& domains,
                          const std::vector<std::optional<std::size_t>>& knob_of);

}  // namespace hone::space
