// How far two correct compiles of a whole program may be apart.
#pragma once

#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::tune {

// For one result, of which `expected` is one correct value. Both compiles round; by how much in all
// follows from no bound that is of use for a whole program, so these are the tolerances of
// iree-run-module's --expected_output for the element type (1e-4 for f32), relative to the largest
// element, since a sum of large terms may be small. Integers are exact.
measure::Tolerance program_tolerance(const problem::Array& expected);

}  // namespace hone::tune
