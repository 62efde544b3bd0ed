// The loops of a contraction as the llvm-cpu code generator tiles them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"

namespace hone::iree {

struct ContractionLoop {
  std::string label;      // "m", "n", "k", "b"; "m0", "m1" where several loops have the role
  std::int64_t size = 0;  // iterations
  problem::LoopRole role = problem::LoopRole::kOther;
  bool reduction = false;
};

struct ContractionLoops {
  std::vector<ContractionLoop> loops;  // in the compiler's order
  std::vector<int> parallel;           // indices of the loops that are not reductions, ascending
  std::vector<int> reduction;          // the k loops, ascending
  int lane = 0;  // walks the innermost dimension of the output: the SIMD lanes
  std::int64_t accumulator_bytes = 4;  // of one output element
  std::int64_t input_bytes = 4;        // of one element of the narrowest input
  // The loops in the order that outer products need, m before n, new position to loop; empty where
  // the operation has it. MLIR (LowerVectorContract.cpp, UnrolledOuterProductGenerator) makes them
  // of contractions whose first operand walks the first of the parallel loops, whatever the
  // operands' layouts (loops that are 1 in the register tile are gone by then); of others every sum
  // is added up across a vector (measured, IREE 3.13, Zen 4, one core: 1024x196x256 f32 with the
  // operands swapped 10.1 ms, its loops interchanged 1.01 ms).
  std::vector<int> interchange;
};

// Input errors: not a contraction of two inputs into one output, a loop whose size is known only at
// run time, an operand index that is not a single loop, no k loop or no output dimension.
Result<ContractionLoops> contraction_loops(const problem::Operation& operation);

// How many rows of an input that k walks along begin at addresses which the first-level cache tells
// apart, as it has sets and ways (a way is a page of 4096 bytes on x86): rows that lie a multiple
// of a way apart share its sets. Nothing where the operand's last dimension is none of k.
std::optional<std::int64_t> rows_in_first_level(const problem::Operation& operation,
                                                const problem::Operand& operand,
                                                const problem::CpuTarget& target);

}  // namespace hone::iree
