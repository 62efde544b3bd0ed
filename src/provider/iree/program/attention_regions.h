// Attention that a program states as separate operations: a product of queries and keys, a softmax
// along the keys, and a product with the values. As one operation the compiler makes one dispatch
// of it, which a kernel can replace, and no score goes through memory.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/program/region.h"

namespace hone::iree {

// A product of attention, its loops by role.
struct AttentionProduct {
  MlirOperation operation{};
  problem::Operation described;

  std::int64_t size(problem::LoopRole role) const {
    std::int64_t size = 1;
    for (const int loop : problem::loops_with(described, role))
      size *= described.loops.at(static_cast<std::size_t>(loop)).size;
    return size;
  }
};

struct AttentionRegion {
  AttentionProduct scores, values;
  MlirOperation last{};             // whose result is the region's
  std::set<MlirOperation> inside;   // all of it, without fills, empty tensors and constants
  std::vector<std::int64_t> shape;  // of the scores where the softmax reads them
  double scale = 1;                 // of the scores, ahead of the mask
  std::optional<Given> mask;        // added to the scores
  std::vector<int> mask_loops;      // of the scores' dimensions, by the mask's; -1 for a size of 1

  // Queries, keys, values and the mask, as the region's operations read them.
  std::vector<Given> given() const {
    std::vector<Given> given{{scores.operation, 0}, {scores.operation, 1}, {values.operation, 1}};
    if (mask) given.push_back(*mask);
    return given;
  }
};

// Reads attention that ends in the product `values`, or in the conversion of its sums to a narrower
// type. Scores may be scaled by a constant, have one mask added, and be converted in between. Sizes
// must be known, and types have at most 32 bits. Nothing if the operations are no such attention,
// or if others read what is inside. `readers`: of the whole program.
std::optional<AttentionRegion> read_attention(const Ir& ir, MlirOperation values,
                                              const Readers& readers);

// The region as iree_linalg_ext.attention, whose scores and weights are f32: what the program
// rounds in between stays unrounded. Nothing if read_attention() finds none.
std::optional<Region> attention_region(const Ir& ir, MlirOperation values, const Readers& readers);

}  // namespace hone::iree
