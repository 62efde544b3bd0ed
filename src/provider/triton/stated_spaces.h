// The spaces of kernels for dispatches that state what they compute (problem::Statement), each with
// an elementwise epilogue: one attention (python/attention.py), or one contraction or convolution
// (python/contraction.py).
#pragma once

#include <functional>

#include "problem/dispatch.h"
#include "problem/statement.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/stated_product.h"
#include "space/space.h"

namespace hone::triton {

// Shape of Softmax(scale Q K^T + mask) V, for each matrix of a batch. Loops of one role are joined.
struct AttentionShape {
  std::int64_t batch = 1, queries = 1, keys = 1;
  std::int64_t depth = 1;          // elements of a query and of a key
  std::int64_t width = 1;          // of a value
  std::int64_t element_bytes = 2;  // of f16 and bf16; 4 of f32
};

// Elements of a block along heads of this size: the next power of two, as Triton's blocks need.
std::int64_t padded_head(std::int64_t size);

// Returns the shape of a statement that is attention. An input error says why there is no kernel
// for it.
Result<AttentionShape> attention_of(const problem::Statement& stated);

// Makes the space of an attention. A program keeps BLOCK_M queries and walks one of SPLIT_K parts
// of the keys in steps of BLOCK_N; num_warps and num_stages are Triton's. For f32, PRECISION
// selects how products are made (python/kernel_text.py); verification decides whether a choice is
// accurate enough. Hard rules: shared memory, scratch memory. Soft rules: registers, instructions,
// waste. "Seen" are figures of Triton 3.9 for sm_80 and sm_90.
space::SpaceBuilder attention_space_builder(const AttentionShape& shape, const GemmDevice& device);

// Makes the space of a contraction. Knobs: STRUCTURE (python/contraction.py), BLOCK_M, BLOCK_N,
// BLOCK_K, GROUP_M, SPLIT_K, PER_UNIT, MORE_N, num_warps and num_stages. Images that are loaded in
// boxes add SWAP, f32 adds PRECISION. Rules: those of gemm_space.h, and those of kernels with
// scratch memory of their own. Products of two parts are not offered: they lose digits that
// verification sees (docs/measuring.md, second set).
space::SpaceBuilder contraction_space_builder(const StatedProduct& product,
                                              const GemmDevice& device);

// Applies gemm_prior() to the product, counting the tiles that boxes of pixels make. An image is
// read once for all taps.
std::function<double(const space::Configuration&)> contraction_prior(const StatedProduct& product,
                                                                     const GemmDevice& device,
                                                                     const space::Space& space);

}  // namespace hone::triton
