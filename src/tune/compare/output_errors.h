// Errors of one compile's results against another's, and whether they are wrong.
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

// `wide`: results of the program computed in f32, or none. They are exact if they are given and A's
// are f16 or bf16; else A's are. `converted`: results of A's code with the conversions that B has
// and A has not, or none. A result beyond the tolerance of its type (program_outputs.h) is still
// right if its error is at most twice that of `converted`: the conversions alone bring that much.
// Input error: numbers or types of results differ.
Result<OutputErrors> output_errors(const std::vector<problem::Array>& a,
                                   const std::vector<problem::Array>& b,
                                   const std::vector<problem::Array>& wide,
                                   const std::vector<problem::Array>& converted);

}  // namespace hone::tune
