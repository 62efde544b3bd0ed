// Programs with splat weights, one number each, as benchmarks with made-up weights have them. The
// compiler folds a splat into the kernel. The kernel then reads no weights and takes a fraction of
// the time that it takes with real ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::iree {

// The scope of the parameters that replace weights.
inline constexpr char kWeightScope[] = "hone";

struct OpaqueProgram {
  std::string text;         // as it was where `weights` is 0
  std::size_t weights = 0;  // constants that are parameters now
  std::size_t folded = 0;   // those that cannot be: of integers, which products may index by
};

// Replaces splat weights in the program's text by parameters of scope kWeightScope. A splat weight
// is a constant of reals that has one value and at least 64 elements. It is an operand of a product
// or a convolution, also through transposes, reshapes, broadcasts and conversions. Constants of
// other uses stay: biases, scales, initial values of sums. Bytecode stays as it is.
OpaqueProgram with_opaque_weights(std::string_view program);

}  // namespace hone::iree
