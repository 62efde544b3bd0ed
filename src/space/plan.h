// Straight-line code that enumerates a space: one level per variable that is tried, each with the
// arithmetic and the tests that become possible once it has a value.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "space/narrow.h"
#include "space/order.h"
#include "space/term_graph.h"

namespace hone::space {

// The place in which a level keeps a value while it runs.
using Slot = std::uint32_t;

enum class Opcode : std::uint8_t {
  kAdd,
  kMultiply,
  kDivide,
  kModulo,
  kExactDivide,
  kMinimum,
  kMaximum,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kSelect,  // c is the third operand
  kLookup,  // b is the table
  // The rest end the level unless they hold.
  kRequireTrue,
  kRequireEqual,
  kRequireNotEqual,
  kRequireLess,
  kRequireLessEqual,
  kRequireMultiple,   // b divides a
  kRequireMember,     // a is in domain b
  kRequireExistence,  // existence a has a solution
};

struct Instruction {
  Opcode opcode;
  Slot target;
  Slot a, b, c;
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
  // Slots of earlier levels that this level or a later one reads: what a subtree depends on.
  std::vector<Slot> key;
  std::vector<Output> outputs;  // the knobs that have their value after this level
};

struct Plan {
  bool feasible = true;
  std::vector<Level> levels;
  std::vector<std::vector<Level>> existences;
  std::vector<LookupTable> tables;
  std::vector<Domain> domains;  // of computed variables
  std::vector<Value> slots;     // constants in place, the rest arbitrary
  std::vector<Output> fixed;    // knobs that have one value, in their slots

  // Runs the code of a level whose slot has its value; whether the requirements hold.
  bool run(const Level& level, Value* slots) const;
  // Whether the levels from `depth` on have a solution.
  bool has_solution(const std::vector<Level>& levels, std::size_t depth, Value* slots) const;
};

// The domains of variables that `order` tries are lists; a variable that is not in `order` has one
// value. `knob_of`: by variable, its position among the knobs, nothing for an auxiliary one.
Plan make_plan(TermGraph& graph, const Order& order, const std::vector<Domain>& domains,
               const std::vector<std::optional<std::size_t>>& knob_of);

}  // namespace hone::space
