// A dispatch that is a contraction or convolution, or several of one left operand
// (problem::Statement), as a product.
// Loops of one role are joined: m of a convolution is its images times the rows and columns of a
// result.
#pragma once

#include <vector>

#include "problem/statement.h"
#include "provider/triton/gemm.h"

namespace hone::triton {

struct StatedProduct {
  Gemm gemm;
  // Products of one left operand. If each has results of its own, a program computes a tile of one
  // of them, and they count as gemm's batch. Otherwise (`joined`) a program computes the same tile
  // of all, and gemm's n is that of all together.
  std::int64_t products = 1;
  bool joined = false;
  // Whether tensor descriptors load both operands (python/described.py): each is dense along k or,
  // as a matrix, along its other side; its rows begin at multiples of 16 bytes; and the loops of
  // the first one's rows are at most four once neighbours are taken as one.
  bool descriptors = false;
  // Number of pixels along each loop, outermost first, for an image with a border or a stride,
  // which is loaded in boxes (python/boxes.py). Else empty.
  std::vector<std::int64_t> image;
  // Number of elements along k within one tap of a filter, which a step must not leave; 0 if k is
  // one loop.
  std::int64_t tap = 0;
  // Elements of the first operand, each counted once: taps of a filter share most of an image's.
  std::int64_t first_elements = 0;
  // Elements of the first operand that lie side by side in 16 bytes wherever the loops stand.
  std::int64_t first_at_once = 1;
  std::int64_t behind = 0;  // instructions for an element of what is computed behind the sums
};

// Returns the product of a contraction; an input error says why there is no kernel for it.
Result<StatedProduct> stated_product(const problem::Statement& stated);

// Smallest number of tiles that cover an image, as python/boxes.py chooses them. Each tile is a box
// of `block` pixels and one of `more` behind it. `block` and `more` are powers of two, or `more` is
// 0.
std::int64_t image_tiles(const std::vector<std::int64_t>& image, std::int64_t block,
                         std::int64_t more);

}  // namespace hone::triton
