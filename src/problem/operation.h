// An operation: what is computed, apart from how. It describes a dispatch's root operation as a
// loop nest: the loops, and for every operand the loop that walks each of its dimensions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/types.h"

namespace hone::problem {

enum class OperationKind {
  kMatmul,       // one m, one n, one k loop
  kBatchMatmul,  // and at least one batch loop
  kContraction,  // any other multiply-and-add over projected permutations
  kMatvec,       // a contraction without m or without n
  kConvolution,
  kReduction,
  kElementwise,
  kAttention,
  kOther,
};

std::string_view name_of(OperationKind kind);
// An input error for an unknown name.
Result<OperationKind> operation_kind_from(std::string_view name);

struct Loop {
  bool reduction = false;
  std::int64_t size = 0;  // iterations; kDynamic where known only at run time
  LoopRole role = LoopRole::kOther;
  // The program leaves the size open; `size` is then what the user gave for it (given_size.h).
  bool open = false;

  bool operator==(const Loop&) const = default;
};

struct Operand {
  TensorType type;
  // loops[d] is the loop that walks dimension d; -1 where the index is not a single loop.
  std::vector<int> loops;
  bool output = false;

  bool operator==(const Operand&) const = default;
};

struct Operation {
  OperationKind kind = OperationKind::kOther;
  std::string name;               // the compiler's: "linalg.matmul"
  std::vector<Loop> loops;        // in the compiler's order, which lowering configurations follow
  std::vector<Operand> operands;  // inputs, then outputs

  bool operator==(const Operation&) const = default;
};

bool is_contraction(OperationKind kind);
bool is_dynamic(const Operation& operation);
// Whether the program leaves some loop's size open, given or not.
bool has_open_sizes(const Operation& operation);
// The operation as the program states it: open sizes are kDynamic, in loops and operands.
Operation as_stated(Operation operation);

bool reduces(const Operation& operation);
// Iterations of all loops that reduce, or of all that do not. A loop of unknown size counts once.
std::int64_t iterations(const Operation& operation, bool reduction);

// Loops of one role, by index, in loop order.
std::vector<int> loops_with(const Operation& operation, LoopRole role);

// Multiplies and adds of one execution: 2 x the product of all loops for contractions,
// convolutions and each result of a reduction of several inputs, those of its two products for
// attention, the product of all loops for the rest and each result of a reduction of one input. 0
// for a dynamic operation.
double flop_count(const Operation& operation);
// Bytes of all operands, each counted once. 0 for a dynamic operation.
double byte_count(const Operation& operation);

// "matmul 512x512x512 f32,f32->f32"; an open size that was given is "512?"; layouts other than
// row-major A (m,k) and B (k,n) are named
// ("tb" for a transposed B).
std::string describe(const Operation& operation);

// Equal for equal operations, on every machine and in every version of hone that keeps its meaning:
// a content hash over kind, loops, and operands.
std::string fingerprint(const Operation& operation);

void to_json(nlohmann::json& json, const Operation& operation);
void from_json(const nlohmann::json& json, Operation& operation);

}  // namespace hone::problem
