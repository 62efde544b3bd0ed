// How a program takes or returns values of a type that hone has no arithmetic for. hone holds them
// in a type that has all of them, the carrier, and changes form where the program is called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/npy.h"
#include "problem/types.h"

namespace hone::problem {

enum class ArgumentForm {
  kPlain,   // the carrier itself
  kScalar,  // a single value, no tensor: its text; of `index` the carrier is i64
  kI2,      // packed, the first element in the lowest bits; the carrier is i8
  kI4,
  kF8E4M3,  // as the carrier has it, which NumPy lacks
  kF8E5M2,
  kF8E4M3FNUZ,  // the carrier is f32
  kF8E5M2FNUZ,
  kComplex,  // the carrier's last extent is 2: real and imaginary part
};

struct ArgumentType {
  TensorType carrier;
  ArgumentForm form = ArgumentForm::kPlain;

  bool operator==(const ArgumentType&) const = default;
};

// Reads MLIR's text inside "tensor<...>": "8x?xi4" or "4xcomplex<f32>". nullopt for element types
// that hone cannot pass.
std::optional<ArgumentType> argument_type_from(std::string_view tensor);

// The type in the words of IREE's tools: "8x8xi4", "4xcf64" for complex<f32>.
std::string text_of(const ArgumentType& type);

// The array's elements in the form that the program takes, rounded and wrapped to it. Of a scalar
// its text: "3", "0.5".
std::string in_form(const Array& array, ArgumentForm form);
// Returns the array that these bytes encode; a scalar's bytes are its carrier's. Input error if
// they are too few or too many.
Result<Array> from_form(std::string bytes, const ArgumentType& type);

}  // namespace hone::problem
