// The space of kernels for dispatches without a product (problem::Statement::Kind::kElementwise,
// python/elementwise.py): elementwise operations and reductions of rows.
#pragma once

#include "problem/statement.h"
#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// Rows are the loops of role m, columns those of role n, or of role k if it reduces. Loops of one
// role are joined.
struct ElementShape {
  std::int64_t rows = 1, columns = 1;
  bool reduces = false;
  // Whether a load or store of each element is contiguous along rows, so that a block needs
  // several of them.
  bool dense_rows = false;
};

// Returns the shape of such a statement. An input error says why there is no kernel for it.
Result<ElementShape> elements_of(const problem::Statement& stated);

// Makes the space. Knobs: BLOCK_M rows and BLOCK_N columns of a program, num_warps. A program that
// reduces has whole rows, kept if BLOCK_N covers them, else walked. Blocks have no more than twice
// the elements that there are.
space::SpaceBuilder element_space_builder(const ElementShape& shape, const GemmDevice& device);

}  // namespace hone::triton
