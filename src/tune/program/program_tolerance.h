// Tolerances between two correct compiles of a whole program, by the types and values of its
// results alone. Effects of the computation are measured (output_moves.h).
#pragma once

#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::tune {

// Tolerance of one result if nothing is known of the program. `expected`: a correct value of it.
// The tolerances are those of iree-run-module's --expected_output for the element type (1e-4 for
// f32). They are relative to the largest element, since a sum of large terms may be small. Integers
// are exact.
measure::Tolerance program_tolerance(const problem::Array& expected);

// Tolerance that most correct compiles meet: a tenth of program_tolerance() for f32 (84 units in
// the last place of the largest element) and f64. An element beyond it must be one that moves
// (output_moves.h).
measure::Tolerance rounding_tolerance(const problem::Array& expected);

}  // namespace hone::tune
