// MLIR text of an operation: a function for each configuration.
#pragma once

#include <span>
#include <string>

#include "profiler/operation.h"
#include "profiler/tile_configuration.h"

namespace hone::profiler {

// Returns a module's text. Each function is called OPERATION_CONFIGURATION, takes the operation's
// inputs and returns its output. The root operation (matrix product, convolution or attention) has
// the configuration as its compilation_info. Semantics of a function:
// - products add up in the result's type; where that is bf16, in f32, rounded once at the end;
// - a split K is a product of each slice into a tensor of slices x m x n, and a second dispatch
//   that adds them up;
// - a bias is added along n or the filters, then relu is max(x, 0), gelu is
//   x / 2 (1 + erf(x / sqrt 2)) in f32, and add adds the residual;
// - padding is a tensor.pad of the input, which the compiler may make a dispatch of its own;
// - attention is softmax(Q K^T / sqrt(k)) V.
// Equal arguments give equal bytes. The operation must have passed check().
std::string source_text(const NamedOperation& operation,
                        std::span<const TileConfiguration> configurations);

}  // namespace hone::profiler
