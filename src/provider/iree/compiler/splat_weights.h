// Programs whose weights are one number each, as benchmarks with made-up weights have them. The
// compiler folds such a weight into the kernel, which reads no weights then and takes a fraction of
// the time that it takes with real ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::iree {

// The scope of the parameters that stand for weights.
inline constexpr char kWeightScope[] = "hone";

struct OpaqueProgram {
  std::string text;         // as it was where `weights` is 0
  std::size_t weights = 0;  // constants that are parameters now
  std::size_t folded = 0;   // those that cannot be: of integers, which products may index by
};

// The program's text with a parameter of scope kWeightScope in the place of each constant of reals
// that has one value, 64 elements or more, and is an operand of a product or a convolution, through
// transposes, reshapes, broadcasts and conversions too. Constants of other uses stay: biases,
// scales, what a sum starts with. Bytecode stays as it is.
OpaqueProgram with_opaque_weights(std::string_view program);

}  // namespace hone::iree
