// The space of kernels for dispatches that are one contraction or convolution and what goes element
// by element behind it (problem::Dispatch::statement, python/contraction.py).
#pragma once

#include <functional>

#include "provider/triton/gemm_device.h"
#include "provider/triton/stated_product.h"
#include "space/space.h"

namespace hone::triton {

// STRUCTURE (python/contraction.py), BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, SPLIT_K, PER_UNIT, MORE_N,
// num_warps, num_stages, where an image is loaded in boxes SWAP, and of f32 PRECISION, by the rules
// of gemm_rules.h and those of kernels that bring their scratch memory with them. Products of two
// parts are not offered: they lose digits that verification sees (docs/measuring.md, second set).
space::SpaceBuilder contraction_space_builder(const StatedProduct& product,
                                              const GemmDevice& device);

// gemm_prior() of the product, which knows how many tiles boxes of pixels make, and that an image
// is read once for all taps.
std::function<double(const space::Configuration&)> contraction_prior(const StatedProduct& product,
                                                                     const GemmDevice& device,
                                                                     const space::Space& space);

}  // namespace hone::triton
