// Constants in a program's text: elided ones are filled, and splat weights become parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "problem/types.h"

namespace hone::iree {

// A program printed without its large constants (--mlir-elide-elementsattrs-if-larger), which are
// filled. The compiler accepts such programs as they are, and fails on them later.
struct FilledProgram {
  std::string text;
  std::size_t constants = 0;  // that were elided; 0: the text is as it was
};

bool has_elided_constants(std::string_view program);

// Fills `dense_resource<__elided__>` in the program's text. `contents` gives the bytes of a tensor
// and is called once for each type; constants of one type share them. A constant of a type that
// hone does not know stays as it is.
FilledProgram with_contents(std::string_view program,
                            const std::function<std::string(const problem::TensorType&)>& contents);

// The scope of the parameters that replace weights.
inline constexpr char kWeightScope[] = "hone";

// A program whose splat weights, one number each, are parameters. Benchmarks with made-up weights
// have splats. The compiler folds a splat into the kernel. The kernel then reads no weights and
// takes a fraction of the time that it takes with real ones.
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
