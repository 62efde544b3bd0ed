// Describes a dispatch's computation value by value, as far as verification needs it: which numbers
// its inputs may be, and how far two correct implementations may differ (measure/rounding.h).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "problem/scalar_operation.h"
#include "problem/types.h"

namespace hone::problem {

struct Dispatch;

// A typical element of a tensor, or a scalar in an operation's body. Shapes and index maps are left
// out: reshaping, transposing and broadcasting change no element.
struct ElementValue {
  enum class Kind {
    kInput,      // an element of binding `binding`
    kConstant,   // `constant`
    kElement,    // some element of the tensor operands[0]; two of these are two elements
    kOperation,  // `operation` of the operands: "arith.addf", "math.exp"
    kReduction,  // `terms` values like operands[0], combined by `operation`, starting at
                 // operands[1]
    kSoftmax,    // of `terms` values like operands[0]
    kAttention,  // query, key, value, and perhaps scale and mask; `terms` keys of `inner_terms`
    kOneOf,      // one of the operands: padding, inserting, selecting the largest few
    kUnknown,    // computed from the operands in a way that is not known: `operation` has the names
  };
  Kind kind = Kind::kUnknown;
  ScalarOperation operation = {};
  std::vector<int> operands = {};  // smaller indices in Computation::values
  ElementType type = ElementType::kF32;
  int binding = -1;
  double constant = 0;
  std::int64_t terms = 1;
  std::int64_t inner_terms = 1;
  bool root = false;  // what the root operation gives

  bool operator==(const ElementValue&) const = default;
};

struct Computation {
  struct Output {
    int binding = -1;
    int value = -1;
    bool operator==(const Output&) const = default;
  };
  std::vector<ElementValue> values;  // operands before what uses them
  std::vector<Output> outputs;       // one for each store; a binding may have several
  // An infinite or NaN constant of the program may reach an output (a causal mask; not the start of
  // a maximum). Only then may a correct output have such elements.
  bool has_infinite_constants = false;

  const ElementValue& at(int index) const { return values[static_cast<std::size_t>(index)]; }
  // The tensor that a value is an element of.
  int tensor_of(int index) const {
    while (at(index).kind == ElementValue::Kind::kElement) index = at(index).operands.at(0);
    return index;
  }

  bool operator==(const Computation&) const = default;
};

// Returns Dispatch::computation. If nobody has stated it, derives it from the root operation, the
// fill and the names of the fused operations.
Computation computation_of(const Dispatch& dispatch);

void to_json(nlohmann::json& json, const Computation& computation);
// Throws nlohmann::json's exceptions if `json` is not a computation.
void from_json(const nlohmann::json& json, Computation& computation);

}  // namespace hone::problem
