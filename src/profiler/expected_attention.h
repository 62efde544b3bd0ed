// Attention as its definition says, in double.
#pragma once

#include <vector>

#include "problem/npy.h"
#include "profiler/operation.h"

namespace hone::profiler {

// softmax(Q K^T / sqrt(k)) V of the inputs query, key and value, rounded once to the result's type;
// the scale is rounded to that type first, as it is stated in it. `threads` share the heads'
// queries: 12 heads of 512x512x64 take about half a second on one.
problem::Array attention_of(const Operation& operation, const std::vector<problem::Array>& inputs,
                            int threads);

}  // namespace hone::profiler
