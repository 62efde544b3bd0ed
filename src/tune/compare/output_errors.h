// How far the results of one compile of a program lie from another's, and whether that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/npy.h"

namespace hone::tune {

// Errors are root mean squares, as shares of the exact result's.
struct OutputErrors {
  struct OfResult {
    double a = 0, b = 0;
    std::optional<double> converted;
  };
  std::string exact;              // by what they are errors: "the program computed in f32", "A"
  std::vector<OfResult> results;  // in the function's order
  std::string failure;            // why B's are wrong; empty where they are right
  std::string note;
};

// `wide`: the results of the program computed in f32, or none; they are what is exact then, else
// A's are. `converted`: results of the program with the conversions that B has and A has not, and
// A's code, or none. What is beyond a tolerance of its type (program_outputs.h) is right all the
// same where it lies at most twice as far from what is exact as `converted` does: that much the
// conversions bring alone. An input error when numbers or types of results differ.
Result<OutputErrors> output_errors(const std::vector<problem::Array>& a,
                                   const std::vector<problem::Array>& b,
                                   const std::vector<problem::Array>& wide,
                                   const std::vector<problem::Array>& converted);

}  // namespace hone::tune
