// Transform specs that change a program before the compiler forms dispatches (IREE 3.13).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/dispatch.h"

namespace hone::iree {

// A transform spec that blocks the weights of a program's products by columns. A block has as many
// columns as a register tile of a product, so it lies in memory in the order in which the product
// reads it. In an unblocked matrix the tile takes two cache lines of each row, and every row is on
// another page. Weights that no cache holds are then read at two thirds of the bandwidth
// (docs/flags.md). Unlike data tiling, blocking leaves inputs and results as they are. Nothing is
// packed at run time, and consumers of a product stay fused with it. The product is an ordinary
// contraction, which a tuning spec can configure.

// The flag with which iree-compile reads such a spec.
inline constexpr std::string_view kTransformSpecFlag =
    "--iree-preprocessing-transform-spec-filename=";

// The rest of an action that calls `function` for a matched operation: %root, with its operands
// %ins and its result %out.
std::string calling_text(std::string_view function);
// The entry point of a spec with such actions. It looks for `pairs` ("@match -> @action") in every
// function and then inlines the calls. `before` comes first; `note` are comment lines at the
// inlining.
std::string calling_entry_point(const std::vector<std::string>& pairs, std::string_view before = {},
                                std::string_view note = {});

// Columns of a block on a CPU with vectors of `vector_bits`: two vectors of f32, the width of a
// fast product's tile (provider/iree/cpu/model.h).
int columns_of_a_block(int vector_bits);

// The text of the spec. It matches f32 products with one matrix of weights. Weights are constants
// and parameters, directly or behind one operation (a transpose, or a broadcast to a batch of one).
// Two kinds of products are unchanged: products with a partial block, and products of fewer than 16
// rows. The latter read each weight once or twice and wait for memory in any order.
std::string weights_in_blocks(int columns);

// A transform spec that widens f16 sums of products and convolutions to f32. AMD's matrix units
// (MFMA, WMMA) take f16 and add up in f32: sums in f16 have no instruction there, and their
// dispatches do not compile for gfx942 and gfx950 ("failed to distribute"). Here operands stay f16,
// sums are f32, and the result is truncated in the same dispatch. Arguments and results keep their
// types, and sums are rounded once instead of at each step. --iree-input-promote-f16-to-f32 changes
// the types of arguments and results.

// Whether a dispatch of `program` is rooted in a product or convolution whose sums are f16.
bool has_narrow_sums(const problem::Program& program);

// The text of the spec, for all sizes: products, also batched or with one operand transposed, and
// 2-D convolutions (NHWC and NCHW, strides 1 and 2, no dilation).
std::string wide_sums_spec();

}  // namespace hone::iree
