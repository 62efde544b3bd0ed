// hone compare expected.npy got.npy: the difference between two arrays.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace hone::cli {

struct ArrayComparison {
  std::string expected, got;                 // .npy files
  std::optional<double> absolute, relative;  // tolerance; none: by element type, as programs have
  bool json = false;
};

// Prints the comparison; returns 1 if an element is off by more than the tolerance allows. Input
// errors: a file that is no .npy file, arrays of different types.
Result<int> compare_arrays(const ArrayComparison& comparison);

}  // namespace hone::cli
