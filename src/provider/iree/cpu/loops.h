// The loops of contractions and convolutions as the llvm-cpu code generator tiles them.
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
  // The order of loops that outer products need, m before n, new position to loop. Empty if the
  // operation has it already. MLIR (LowerVectorContract.cpp, UnrolledOuterProductGenerator) makes
  // outer products of contractions whose first operand walks the first of the parallel loops,
  // whatever the operands' layouts. Loops that are 1 in the register tile are gone by then. In
  // other contractions every sum is added up across a vector. Measured (IREE 3.13, Zen 4, one core,
  // 1024x196x256 f32): operands swapped 10.1 ms, loops interchanged 1.01 ms.
  std::vector<int> interchange;
};

// Input errors: not a contraction of two inputs into one output, a loop whose size is known only at
// run time, an operand index that is not a single loop, no k loop or no output dimension.
Result<ContractionLoops> contraction_loops(const problem::Operation& operation);

// Number of rows of an input, walked along by k, that the first-level cache keeps without
// conflicts. Rows that lie a multiple of a way apart share its sets; a way is a page of 4096 bytes
// on x86. Nothing if the operand's last dimension is not a k loop.
std::optional<std::int64_t> rows_in_first_level(const problem::Operation& operation,
                                                const problem::Operand& operand,
                                                const problem::CpuTarget& target);

// How IREE's llvm-cpu backend can vectorise a convolution (3.13).
enum class ConvolutionForm {
  // Two-dimensional: nhwc x hwcf, nchw x fchw, depthwise nhwc x hwc, nhwc and nchw pooling.
  // ConvTileAndDecomposeExpert decomposes them into one-dimensional convolutions, which become
  // vectors (DecomposeConvolutionToLowerDimOps).
  kDecomposed,
  // Convolutions with one image loop, which become vectors without decomposition.
  kOneDimensional,
  // Grouped, nhwc x fhwc, depthwise nchw and three-dimensional convolutions. No pass vectorises
  // them; only LLVM may.
  kScalar,
};

struct ConvolutionLoops {
  // Labels are "n" (batch), "oh" and "ow" (image), "f" (output channel), "kh" and "kw" (filter),
  // "c" (input channel, or the channel of a depthwise one and of pooling), "g" (group). Only the
  // batch has a role.
  ContractionLoops nest;
  ConvolutionForm form = ConvolutionForm::kScalar;
  std::vector<int> image, filter;  // outermost dimension first; image[d] goes with filter[d]
  bool sums_channels = false;      // it adds over input channels: not depthwise, no pooling
};

// Input errors: not a convolution (or a pooling) of two inputs into one output, a loop whose size
// is known only at run time, image and filter loops that do not pair.
Result<ConvolutionLoops> convolution_loops(const problem::Operation& operation);

}  // namespace hone::iree
