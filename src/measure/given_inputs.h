// Inputs that the user gives, instead of those of inputs.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/inputs.h"

namespace hone::measure {

// Puts `given[i]`, where not empty, in the place of contents[i]. An input error for one of another
// size than its binding, or for a binding that is only written.
Status replace_contents(const problem::Dispatch& dispatch, const std::vector<std::string>& given,
                        std::vector<std::vector<std::byte>>& contents);

// What plan_inputs says of its own inputs, found out from `contents` (by binding): whether the root
// is exact on them, a bound on sum |a||b|, the size of its sums and of what is fused behind it. The
// bound is taken from the product where hone can compute it (measure/reference.h), else it is
// terms x max |a| x max |b|.
InputPlan plan_of_contents(const problem::Dispatch& dispatch,
                           const std::vector<std::vector<std::byte>>& contents, int threads);

}  // namespace hone::measure
