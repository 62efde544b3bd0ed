// The loops of a convolution as the llvm-cpu code generator tiles them.
#pragma once

#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "provider/iree/cpu/loops.h"

namespace hone::iree {

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
