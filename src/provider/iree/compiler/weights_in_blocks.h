// A transform spec that lays the weights of a program's products out in blocks of columns, before
// the compiler forms dispatches (IREE 3.13). A block of as many columns as a tile of a product in
// registers then lies in memory in the order in which the product reads it. A matrix of weights
// lies by rows otherwise, and the tile takes two cache lines of each row, every row on another
// page: of weights that no cache holds that is two thirds of the bandwidth (docs/flags.md). Unlike
// data tiling it leaves inputs and results as they are, so nothing is packed while the program runs
// and what follows a product stays fused with it; and the product is an ordinary contraction, which
// a tuning spec configures.
#pragma once

#include <string>
#include <string_view>

namespace hone::iree {

// By which iree-compile reads such a spec.
inline constexpr std::string_view kTransformSpecFlag =
    "--iree-preprocessing-transform-spec-filename=";

// Columns of a block on a CPU with vectors of so many bits: two vectors of f32, which a tile of a
// fast product is wide (provider/iree/cpu/model.h).
int columns_of_a_block(int vector_bits);

// The text of the spec. It takes products of f32 with one matrix of weights: constants and
// parameters, as they are or behind one operation (a transpose, what makes a batch of one of them).
// Left as they are: products of which some block would not be full, and those of fewer than 16
// rows, which read each weight once or twice and wait for memory in any order.
std::string weights_in_blocks(int columns);

}  // namespace hone::iree
