// Sums of floating-point numbers whose order a compiler keeps unless it is told otherwise.
#pragma once

#include "problem/dispatch.h"

namespace hone::tune {

// Whether the dispatch sums floating-point numbers along the lanes of a vector, so that keeping
// their order means adding one after the other. Examples: sums of rows (norms, softmax), attention,
// a matrix times a vector. Sums of columns and products of two matrices keep one sum per lane.
// Measured (IREE 3.13, docs/studies/cpu-operations.md): a sum of rows takes 2.3 times as long in
// order, and 4.1 times as long when both are tuned.
bool reduces_along_lanes(const problem::Dispatch& dispatch);

}  // namespace hone::tune
