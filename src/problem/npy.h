// NumPy's .npy files (format version 1.0; numpy.lib.format), little-endian, row-major.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "problem/types.h"

namespace hone::problem {

struct Array {
  TensorType type;
  std::string bytes;  // element_count(type) * byte_size(type.element), row-major
};

// The file's bytes for `array`. bf16 and fp8 have no NumPy type and are written as unsigned
// integers of their size, as IREE's tools read them.
std::string to_npy(const Array& array);

// Reads what to_npy writes and what NumPy saves of a simple type. An input error that says what is
// wrong for anything else: another byte order, Fortran order, object arrays, a header or payload
// that is too short.
Result<Array> from_npy(std::string_view file);

}  // namespace hone::problem
