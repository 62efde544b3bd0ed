// The loops of a contraction as the llvm-cpu code generator tiles them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"

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
};

// Input errors: not a contraction of two inputs into one output, a loop whose size is known only at
// run time, an operand index that is not a single loop, no k loop or no output dimension.
Result<ContractionLoops> contraction_loops(const problem::Operation& operation);

}  // namespace hone::iree
