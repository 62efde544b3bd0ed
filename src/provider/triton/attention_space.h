// The space of hone's own attention kernels (python/attention.py): for dispatches that are one
// attention and what goes element by element behind it (problem::Dispatch::statement).
#pragma once

#include <functional>

#include "problem/dispatch.h"
#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// Softmax(scale Q K^T + mask) V, for each matrix of a batch; loops of one role are taken as one.
struct AttentionShape {
  std::int64_t batch = 1, queries = 1, keys = 1;
  std::int64_t depth = 1;          // elements of a query and of a key
  std::int64_t width = 1;          // of a value
  std::int64_t element_bytes = 2;  // of f16 and bf16; 4 of f32
};

// Elements of a block along heads of this size: a power of two, as Triton's blocks are.
std::int64_t padded_head(std::int64_t size);

// What the dispatch states. An input error that says why there is no kernel for it.
Result<AttentionShape> attention_of(const problem::Dispatch& dispatch);

// A program keeps BLOCK_M queries and walks one of SPLIT_K parts of the keys in steps of BLOCK_N;
// num_warps and num_stages are Triton's. Of f32 PRECISION says how products are made
// (python/kernel_text.py); whether one is right enough says verification. Hard rules: shared
// memory, scratch memory. Soft ones: registers, instructions, waste. "Seen" are figures of
// Triton 3.9 for sm_80 and sm_90.
space::SpaceBuilder attention_space_builder(const AttentionShape& shape, const GemmDevice& device);

// An estimate of a configuration's seconds: what computes the products, what computes exponentials
// (a unit does few in a clock), and how far several programs of a unit hide one behind the other.
// It is for the order in which configurations are tried; absolute times are not to be relied on.
std::function<double(const space::Configuration&)> attention_prior(const AttentionShape& shape,
                                                                   const GemmDevice& device,
                                                                   const space::Space& space);

}  // namespace hone::triton
