// What a dispatch computes, read from its IR.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/operation.h"
#include "provider/iree/ir.h"

namespace hone::iree {

// Loops, roles, operands and kind of a structured operation. Contractions by MLIR's own inference
// (linalg::inferContractionDims). Input error when an element type is none that hone knows, or the
// operation states no indexing maps.
Result<problem::Operation> describe_operation(const Ir& ir, MlirOperation operation);

// A structured operation in words: "fill", "elementwise(math.erf, arith.mulf)", "transpose",
// "reduction(arith.addf)", "softmax".
std::string in_words(const Ir& ir, MlirOperation operation);

}  // namespace hone::iree
