// Descriptions of structured operations, read from a dispatch's IR.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/operation.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Results of an operand's indexing map; -1 for one that is not a single loop.
struct IndexingMap {
  std::size_t loops = 0;
  std::vector<int> results;

  bool is_identity() const {
    for (std::size_t d = 0; d < results.size(); ++d)
      if (results[d] != static_cast<int>(d)) return false;
    return results.size() == loops;
  }
};

// The maps of a structured operation, by operand; empty for one without maps.
std::vector<IndexingMap> indexing_maps(const Ir& ir, MlirOperation operation);

// Describes loops, roles, operands and kind of a structured operation. Contractions use MLIR's own
// inference (linalg::inferContractionDims). Input error if hone does not know an element type, or
// if the operation states no indexing maps.
Result<problem::Operation> describe_operation(const Ir& ir, MlirOperation operation);

// Puts the loops of a linalg.generic into `order`, new position to loop, as the transform dialect's
// structured.interchange does. Returns false and changes nothing for another operation, a body that
// asks for a loop's index, or an order that is no permutation of its loops.
bool interchange_loops(const Ir& ir, MlirOperation operation, const std::vector<int>& order);

// Whether the body of a contraction is a product and a sum of values with at most a sign extension
// (problem::Dispatch::plain_products).
bool adds_products(const Ir& ir, MlirOperation operation);

// The inputs whose products a linalg.generic adds up, element by element of its loops: a pair of
// operand numbers for each result. Empty if a result is anything else. The compiler does not call
// it a contraction if an index is a multiple of a loop, such as in a 1x1 convolution of stride 2,
// or if there are several results, such as query, key and value of one input.
std::vector<std::array<std::size_t, 2>> summed_products(const Ir& ir, MlirOperation operation);

// Operations between a buffer and the tensor that is read from it or written to it.
bool is_load(std::string_view kind);
bool is_store(std::string_view kind);

// The constant that a linalg.fill writes; nothing when it is computed, or for another operation.
std::optional<double> fill_constant(const Ir& ir, MlirOperation operation);
// The constant that a fill gives the root's (last) output before the root adds to it; 0 without
// one.
double fill_under(const Ir& ir, MlirOperation root);

// Whether the root adds to values of a buffer that it only reads, and not to what its output holds.
bool adds_to_an_input(const Ir& ir, MlirOperation root);

// A structured operation in words: "fill" (of a constant), "fill(computed)", "elementwise(math.erf,
// arith.mulf)", "transpose", "reduction(arith.addf)", "softmax".
std::string in_words(const Ir& ir, MlirOperation operation);

}  // namespace hone::iree
