// How the values of a computation depend on the contents of its bindings.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "problem/computation.h"

namespace hone::measure {

// Magnitude that i8, f16 and bf16 hold with both signs. It is large on purpose: sums of hundreds of
// such products need more than the 11 digits of f16. A kernel that rounds to a narrower type on the
// way is then detected, and so is saturation of 16-bit intermediates.
inline constexpr int kMagnitude = 127;

// A value as a polynomial of what the bindings hold: how many of them are multiplied at most
// (degree), and the sum of the absolute values of its coefficients, which are small whole numbers
// (up to kMagnitude). Degree 0 with coefficients: a constant; without: no such polynomial.
struct Polynomial {
  int degree = 0;
  double coefficients = 0;
};

// Each value is looked at once, since bodies use one value several times. Values are indices in
// Computation::values. For one thread; the computation has to outlive it.
class InputDependence {
 public:
  explicit InputDependence(const problem::Computation& computation) : computation_(computation) {}

  // Returns the binding that a value is an element of; -1 if something is computed on the way.
  int source_of(int value) const;
  // Bindings that a value is computed from.
  std::set<std::size_t> sources_of(int value) const;
  Polynomial polynomial_of(int value);
  // Whether a value is zero where the bindings are.
  bool vanishes(int value);

 private:
  Polynomial made_of(const problem::ElementValue& value);
  bool is_zero_of_zeros(const problem::ElementValue& value);

  const problem::Computation& computation_;
  std::map<int, Polynomial> polynomials_;
  std::map<int, bool> vanishing_;
};

}  // namespace hone::measure
