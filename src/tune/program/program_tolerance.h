// How far two correct compiles of a whole program may be apart, by what its results are alone. What
// follows from their computation is measured (output_moves.h).
#pragma once

#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::tune {

// For one result, of which `expected` is one correct value: what is said where nothing is known of
// the program. These are the tolerances of iree-run-module's --expected_output for the element type
// (1e-4 for f32), relative to the largest element, since a sum of large terms may be small.
// Integers are exact.
measure::Tolerance program_tolerance(const problem::Array& expected);

// What every right compile lies within, and most do: a tenth of that for f32 (84 units in the last
// place of the largest element), and of f64. Beyond it an element must be one that moves.
measure::Tolerance rounding_tolerance(const problem::Array& expected);

}  // namespace hone::tune
