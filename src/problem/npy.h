// NumPy's .npy files (numpy.lib.format, versions 1 to 3), little-endian.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "problem/types.h"

namespace hone::problem {

struct Array {
  TensorType type;
  std::string bytes;  // byte_size(type), row-major

  std::span<const std::byte> data() const { return std::as_bytes(std::span(bytes)); }
  std::span<std::byte> data() { return std::as_writable_bytes(std::span(bytes)); }
};

// An array whose bytes are all zero.
Array zeros_of(TensorType type);

// The file's bytes for `array`, version 1.0. NumPy has no bf16 and no fp8: bf16 is written as raw
// elements of two bytes ('<V2', which IREE's tools take for bf16), fp8 as unsigned integers.
std::string to_npy(const Array& array);

// Reads what NumPy saves of booleans, integers and floats, in row-major or Fortran order (given
// back row-major), and raw elements of one or two bytes. Unsigned integers become signless ones of
// their size, '<V2' bf16, '|V1' i8. Bytes behind the elements are ignored, as NumPy does. An input
// error that says what is wrong for anything else: another byte order, structured or object arrays,
// a header that is not a dictionary of descr, fortran_order and shape, a payload that is too short.
Result<Array> from_npy(std::string_view file);

// The array as a `wanted` tensor. An input error when shape or element type differ; integers and
// raw elements of the same size may stand for the types that NumPy lacks (bf16, fp8) and for i1.
Result<Array> as_tensor(Array array, const TensorType& wanted);

}  // namespace hone::problem
