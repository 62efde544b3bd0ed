// Ranges of the integers in a program, derived from known ranges of its inputs.
#pragma once

#include <string>
#include <vector>

#include "provider/iree/program/reached_operations.h"
#include "provider/iree/program/value_range.h"

namespace hone::iree {

// The range of a value, or of each element of a tensor: followed through casts, arithmetic,
// selections, scans, sums, reshapes, branches and calls. `inputs`: those of the function's inputs.
Range range_in(const Ir& ir, const ReachedOperations& reached, const std::string& function,
               const std::vector<Range>& inputs, MlirValue value);

}  // namespace hone::iree
