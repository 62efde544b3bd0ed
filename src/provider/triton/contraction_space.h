// The space of kernels for dispatches that are one contraction or convolution with an elementwise
// epilogue (problem::Dispatch::statement, python/contraction.py).
#pragma once

#include <functional>

#include "provider/triton/gemm_device.h"
#include "provider/triton/stated_product.h"
#include "space/space.h"

namespace hone::triton {

// Knobs: STRUCTURE (python/contraction.py), BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, SPLIT_K, PER_UNIT,
// MORE_N, num_warps and num_stages. Images that are loaded in boxes add SWAP, f32 adds PRECISION.
// Rules: those of gemm_space.h, and those of kernels with scratch memory of their own. Products of
// two parts are not offered: they lose digits that verification sees (docs/measuring.md, second
// set).
space::SpaceBuilder contraction_space_builder(const StatedProduct& product,
                                              const GemmDevice& device);

// Applies gemm_prior() to the product, counting the tiles that boxes of pixels make. An image is
// read once for all taps.
std::function<double(const space::Configuration&)> contraction_prior(const StatedProduct& product,
                                                                     const GemmDevice& device,
                                                                     const space::Space& space);

}  // namespace hone::triton
