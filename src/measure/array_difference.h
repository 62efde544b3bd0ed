// How far two arrays lie apart, in numbers for people.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "problem/npy.h"

namespace hone::measure {

// Elements that are NaN in one array only count as different, and are in no other number.
struct ArrayDifference {
  std::int64_t elements = 0;
  std::int64_t different = 0;   // in value: 0 and -0 are equal, NaN and NaN too
  double largest = 0;           // |got - expected|
  double mean = 0;              // of |got - expected| over all elements
  double largest_relative = 0;  // |got - expected| / |expected|, where that is not 0
  // Most numbers of the element type that lie between the two, the one end counted; of integers
  // their difference.
  double largest_ulp = 0;
};

// Compares two arrays of one type. Input error when the types differ.
Result<ArrayDifference> difference_of(const problem::Array& got, const problem::Array& expected);

}  // namespace hone::measure
