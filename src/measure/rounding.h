// Estimates how large the values of a computation are, and how far a right implementation may be
// from the exact values: a forward analysis over all values, once for a dispatch.
//
// With u the unit roundoff of a value's type (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., chapters 2 to 4, for the rules that are not statistical):
//   sum of two, product   each rounds once: u; a difference of values of both signs turns relative
//                         errors into absolute ones
//   function              4 u for exp, log, roots, sines and 8 u for erf, tanh, powers (where the
//                         type is narrower than f32: of f32, and one rounding), beside what it
//                         makes of its argument's error (CUDA C++ Programming Guide, "Mathematical
//                         Functions": 2 ulp, and 4 for powf)
//   sum of K values       of one sign: sqrt(K) u, relative. Of both signs: K u rms, absolute. Each
//                         is about six standard deviations of what a sum in order makes when its
//                         roundings are independent (Higham and Mary 2019, SIAM J. Sci. Comput.
//                         41(5)). K u where K u > 1, when a sum of one sign stops to grow.
//   sum of K products     in f32: a matrix unit adds 16 terms at once and truncates (Fasi, Higham,
//                         Mikaitis and Pranesh 2021, PeerJ Computer Science 7). Each truncation is
//                         at most u times the partial sum at the mean, and these means do not
//                         cancel. Of one sign: K / 32 u, relative. Of both signs, and near zero in
//                         the end: six standard deviations of a random walk that returns, summed
//                         up, are 6 K sqrt(K / 12) / 16 u rms. That is more than K u rms from K =
//                         86 on: one of 2.6 million sums of 1,280 terms was 3 K u rms off (H200).
//   maximum, select, move nothing
//   softmax               e / sum(e): relative, from the rounding of x - max, exp, the sum
//   attention             a convex combination of values v: the relative error of the weights times
//                         the largest |v|, halved as the errors of single weights are independent
//   narrowing             of exact values one correct rounding, which all make alike; else u
// Values that are exact in any order and with any grouping have no error: integers, and floats that
// are multiples of 2^g below 2^(g + digits).
#pragma once

#include <optional>
#include <vector>

#include "measure/inputs.h"
#include "problem/computation.h"

namespace hone::measure {

// Estimates for all elements that a value of a computation stands for.
struct Estimate {
  double low = 0, high = 0;  // plausibly: sums lie within six standard deviations
  double smallest = 0;       // magnitude
  double mean = 0, rms = 0;
  // |computed - exact| <= absolute + relative |exact|.
  double absolute = 0, relative = 0;
  std::optional<int> grid = {};  // all are multiples of 2^grid; nothing: not known

  bool is_exact() const { return absolute == 0 && relative == 0; }
  double largest() const;  // magnitude
};

// Operand outside the domain of its operation, or a result that overflows.
struct OutOfDomain {
  int value = -1;          // the operand, in Computation::values
  bool too_large = false;  // smaller inputs help; else positive ones
};

struct Rounding {
  std::vector<Estimate> values;  // as Computation::values
  std::vector<OutOfDomain> out_of_domain;
};

// `plan` describes the inputs (plan_inputs), and the size of the root's sums. `matrix_units`:
// whether they may add up products, as on a GPU.
Rounding estimate_rounding(const problem::Computation& computation, const InputPlan& plan,
                           bool matrix_units = false);

}  // namespace hone::measure
