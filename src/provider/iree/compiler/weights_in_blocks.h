// A transform spec that blocks the weights of a program's products by columns, before the compiler
// forms dispatches (IREE 3.13). A block has as many columns as a register tile of a product, so it
// lies in memory in the order in which the product reads it. In an unblocked matrix the tile takes
// two cache lines of each row, and every row is on another page. Weights that no cache holds are
// then read at two thirds of the bandwidth (docs/flags.md). Unlike data tiling, blocking leaves
// inputs and results as they are. Nothing is packed at run time, and consumers of a product stay
// fused with it. The product is an ordinary contraction, which a tuning spec can configure.
#pragma once

#include <string>
#include <string_view>

namespace hone::iree {

// The flag with which iree-compile reads such a spec.
inline constexpr std::string_view kTransformSpecFlag =
    "--iree-preprocessing-transform-spec-filename=";

// Columns of a block on a CPU with vectors of `vector_bits`: two vectors of f32, the width of a
// fast product's tile (provider/iree/cpu/model.h).
int columns_of_a_block(int vector_bits);

// The text of the spec. It matches f32 products with one matrix of weights. Weights are constants
// and parameters, directly or behind one operation (a transpose, or a broadcast to a batch of one).
// Two kinds of products are unchanged: products with a partial block, and products of fewer than 16
// rows. The latter read each weight once or twice and wait for memory in any order.
std::string weights_in_blocks(int columns);

}  // namespace hone::iree
