// The code of a vector kernel, as MLIR that the compiler takes in the place of a dispatch.
#pragma once

#include <cstdint>
#include <string>

#include "provider/iree/vector/vector_kernel.h"

namespace hone::iree {

// Values of the knobs (vector_space.h).
struct VectorKnobs {
  std::int64_t lanes = 8;         // elements of a vector
  std::int64_t vectors = 1;       // of a tile, side by side
  std::int64_t rows = 1;          // of a tile
  std::int64_t steps = 1;         // of the sums that are written out
  bool rows_first = true;         // whether a workgroup walks all rows before the next vectors
  std::int64_t groups = 1;        // most workgroups that share the rows
  std::int64_t groups_along = 1;  // most workgroups that share the vectors

  std::int64_t width() const { return lanes * vectors; }
};

// How the tiles of a kernel are shared out.
struct VectorTiles {
  std::int64_t row_tiles = 0;               // of one step of the outer loops
  std::int64_t tiles = 0, along = 0;        // in all: of rows, and side by side
  std::int64_t chunk = 0, chunk_along = 0;  // of a workgroup
  std::int64_t groups() const { return (tiles + chunk - 1) / chunk; }
  std::int64_t groups_along() const { return (along + chunk_along - 1) / chunk_along; }
};
VectorTiles tiles_of(const VectorKernel& kernel, const VectorKnobs& knobs);

// Returns a module with one executable, for the statement's target. Its export is called as the
// statement's entry. `symbol`: the executable's visibility and name, "private
// @\"conv_dispatch_0\"". The knobs must be of the kernel's space. The last tile of a loop that
// tiles do not divide begins earlier, so that it covers part of the tile before once more.
std::string vector_module(const std::string& symbol, const VectorKernel& kernel,
                          const VectorKnobs& knobs);

}  // namespace hone::iree
