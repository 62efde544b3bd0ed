// The space of kernels for dispatches that are one contraction or convolution and what goes element
// by element behind it (problem::Dispatch::statement, python/contraction.py).
#pragma once

#include "problem/dispatch.h"
#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// The product that a dispatch's contraction is once the loops of one role are taken as one: m of a
// convolution is its images times the rows and columns of a result. An input error that says why
// there is no kernel for it.
Result<Gemm> product_of(const problem::Dispatch& dispatch);

// BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, num_warps, num_stages, by the rules of gemm_rules.h. There is
// no scratch memory, and so no split-K and no tensor descriptors.
space::SpaceBuilder contraction_space_builder(const Gemm& gemm, const GemmDevice& device);

}  // namespace hone::triton
