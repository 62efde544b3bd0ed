// The compiler's own statement of the configurations of a root operation, as plain data: the
// content of its iree_codegen.smt.constraints operations (IREE 3.13, GPU targets). A compile worker
// reads it from the IR (constraint_reader.h), it travels as JSON, and the tuner makes a
// space::Space from it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "space/space.h"

namespace hone::iree {

enum class StatedTermKind {
  kConstant,   // value
  kKnob,       // name
  kAuxiliary,  // name: an integer that only has to exist
  kLookup,     // operand 0 in keys gives the value beside it
  kAdd,        // of two or more, like kMultiply, kAnd, kOr
  kSubtract,
  kMultiply,
  kDivide,  // Euclidean, like kModulo
  kModulo,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kAnd,
  kOr,
  kNot,
  kIfThenElse,
};

// A node of the expressions; operands are positions of terms before it.
struct StatedTerm {
  StatedTermKind kind = StatedTermKind::kConstant;
  std::vector<int> operands = {};
  std::int64_t value = 0;
  std::string name = {};
  std::vector<std::int64_t> keys = {};
  std::vector<std::int64_t> values = {};
};

struct StatedKnob {
  std::string name;
  std::vector<std::string> options;  // of a knob that picks one of them by position; else empty
};

struct StatedAssertion {
  int condition = 0;
  std::string message;  // "wg_0 must be divisible by sg_0 ({} % {} == 0)"
  std::vector<int> arguments;
};

// The content of one constraints operation: one way of compiling the root operation.
struct StatedSet {
  std::string pipeline;  // "TileAndFuse", "VectorDistribute"
  std::vector<StatedTerm> terms;
  std::vector<StatedKnob> knobs;  // in the order in which the region names them
  std::vector<StatedAssertion> assertions;
};
using StatedSpace = std::vector<StatedSet>;

void to_json(nlohmann::json& json, const StatedSet& set);
void from_json(const nlohmann::json& json, StatedSet& set);

// The knob that picks one of several sets, by position.
inline constexpr std::string_view kPipelineKnob = "pipeline";

// The space of one set. Assertions keep their words as the reason and what stands before the
// parentheses as the name; guesses about speed are soft (is_heuristic). Input error for terms that
// do not follow from terms before them.
Result<space::SpaceBuilder> space_builder(const StatedSet& set);
// The space of all sets together, with kPipelineKnob first, and with the rules that hone adds
// (stated_additions.h). Input error if nothing is stated. With `audited`, the name of one of hone's
// rules, it has the configurations that break this rule alone; input error for a name that is none.
Result<space::Space> space_of(const StatedSpace& stated, const problem::Operation& root,
                              const problem::GpuTarget& target, std::string_view audited = {});

// The space of all sets together with nothing but what the compiler states: its constraints,
// guesses about speed included, and its knobs. Input error if nothing is stated.
Result<space::Space> compiler_space_of(const StatedSpace& stated);

}  // namespace hone::iree
