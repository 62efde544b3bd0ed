// Do two compiles of a whole program compute the same?
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/npy.h"

namespace hone::tune {

// Empty when each output is the expected one but for rounding; else which is not, with the first
// bad element (the tolerances are program_tolerance.h's). An input error when their number or types
// differ.
Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected);

}  // namespace hone::tune
