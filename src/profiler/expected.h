// Expected results of the profiler's dispatches. They follow from the operation's name alone,
// without the file's text or a compiler, so that a file that computes something else is detected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "measure/verification.h"
#include "problem/npy.h"
#include "profiler/operation.h"

namespace hone::profiler {

struct ExpectedValues {
  std::vector<problem::Array> inputs;  // in the order of NamedOperation::inputs()
  problem::Array output;
  // Tolerance of the result: exact except for erf and exp. For these it is the largest error of a
  // correct implementation in the result's type.
  measure::Tolerance tolerance;
};

// Draws the inputs: small random integers, as in the old tool, up to 3 in f16 and bf16, 7 in f32, 2
// in s8. If sums of these would not be exact in the type that they add up in, they are smaller. If
// that is not enough, fewer values of the lhs are nonzero. Every correct kernel then gives the same
// bits in any order (f16 adds up exactly to 2048).
std::vector<problem::Array> inputs_of(const NamedOperation& operation, std::uint64_t seed);

// Computes products and attention on up to `threads` threads; 2048x1280x1280 takes about half a
// second on one. An input error for tensors that do not fit into memory.
Result<ExpectedValues> expected_of(const NamedOperation& operation, std::uint64_t seed,
                                   int threads);

// Returns the result of expected_of(), and caches the output in `folder` if computing it takes
// long. A cached output is used only if it is complete, and was made for this operation and seed;
// otherwise it is made anew.
Result<ExpectedValues> cached_expected(const NamedOperation& operation, std::uint64_t seed,
                                       int threads, const std::filesystem::path& folder);

}  // namespace hone::profiler
