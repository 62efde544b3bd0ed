// Inputs that the user gives, instead of those of inputs.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/inputs.h"

namespace hone::measure {

// Replaces contents[i] with `given[i]` unless that is empty. An input error if it has another size
// than its binding, or if the binding is write-only.
Status replace_contents(const problem::Dispatch& dispatch, const std::vector<std::string>& given,
                        std::vector<std::vector<std::byte>>& contents);

// Plans given inputs, as plan_inputs plans its own, from `contents` (by binding). The plan says
// whether the root is exact on them. It gives a bound on sum |a||b|, and the size of the root's
// sums and of the operations fused behind it. The bound comes from the product if hone can compute
// it (measure/reference.h), else it is terms x max |a| x max |b|.
InputPlan plan_of_contents(const problem::Dispatch& dispatch,
                           const std::vector<std::vector<std::byte>>& contents, int threads);

}  // namespace hone::measure
