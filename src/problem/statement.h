// Reads a dispatch's statement of itself (Dispatch::statement): one contraction or attention, and
// its elementwise epilogue. provider/iree/program/dispatch_statement.h writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/scalar_operation.h"
#include "problem/types.h"

namespace hone::problem {

// Start of a kernel's view: `offset` bytes behind the start of its binding `binding`, plus the
// value of the launch's constants `words` (none; the low 32 bits; low and high).
struct StatedView {
  int binding = 0;
  std::int64_t offset = 0;
  std::vector<std::size_t> words;

  bool operator==(const StatedView&) const = default;
};

// Elements of a view over the root's loops: element `offset` + sum of stride x index.
struct StatedUse {
  std::size_t view = 0;
  ElementType type = ElementType::kF32;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;  // one for each loop

  bool operator==(const StatedUse&) const = default;
};

struct StatedLoop {
  std::string role;  // batch, m, n, k; of attention k1 along heads, k2 along keys
  std::int64_t size = 1;

  bool is_reduced() const { return role.starts_with("k"); }
  bool operator==(const StatedLoop&) const = default;
};

// A value for each element that comes out of the root.
struct StatedValue {
  ScalarOperation operation;
  ElementType type = ElementType::kF32;
  std::vector<std::size_t> operands;  // values before this one
  std::string predicate;              // of a comparison: "olt"
  double constant = 0;
  StatedUse use = {};                // of a load; of a table its strides and offset
  std::vector<std::uint32_t> words;  // all of a table, as memory of this machine has it

  bool operator==(const StatedValue&) const = default;
};

struct StatedStore {
  StatedUse use;
  std::size_t value = 0;

  bool operator==(const StatedStore&) const = default;
};

struct Statement {
  enum class Kind { kContraction, kAttention };
  Kind kind = Kind::kContraction;
  std::string entry;                // of the compiler's kernel
  int bindings = 0, constants = 0;  // that it is launched with
  std::vector<StatedLoop> loops;
  // Operands: lhs and rhs of a contraction; query, key, value and perhaps a mask of attention. The
  // mask is added to the scores, or, if of type i1, selects the scores that count by a byte's
  // lowest bit.
  std::vector<StatedUse> operands;
  double start = 0;  // that a contraction's sums begin at
  double scale = 1;  // of attention's scores
  std::vector<StatedValue> values;
  std::vector<StatedStore> stores;
  std::vector<StatedView> views;

  bool operator==(const Statement&) const = default;
};

// Input error: a text that says why there is no statement (its "why_not"), an empty text, and an
// inconsistent one (a store may come from anybody).
Result<Statement> read_statement(std::string_view text);

// Writes what read_statement() reads. from_json throws nlohmann's exceptions for malformed JSON.
void to_json(nlohmann::json& json, const Statement& statement);
void from_json(const nlohmann::json& json, Statement& statement);

}  // namespace hone::problem
