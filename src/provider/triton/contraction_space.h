// The space of kernels for dispatches that are one contraction or convolution and what goes element
// by element behind it (problem::Dispatch::statement, python/contraction.py).
#pragma once

#include "problem/dispatch.h"
#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// The product that a dispatch's contraction is once the loops of one role are taken as one: m of a
// convolution is its images times the rows and columns of a result.
struct StatedProduct {
  Gemm gemm;
  // Whether both operands are matrices that tensor descriptors take: the loops of a role walked as
  // one, dense along one of them, and all else that addresses are made of a multiple of 16 bytes.
  bool matrices = false;
  std::int64_t behind = 0;  // instructions for an element of what is computed behind the sums
};

// An input error that says why there is no kernel for it.
Result<StatedProduct> stated_product(const problem::Dispatch& dispatch);

// STRUCTURE (python/contraction.py), BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, SPLIT_K, PER_UNIT, MORE_N,
// num_warps, num_stages, by the rules of gemm_rules.h and those of kernels that bring their scratch
// memory with them.
space::SpaceBuilder contraction_space_builder(const StatedProduct& product,
                                              const GemmDevice& device);

}  // namespace hone::triton
