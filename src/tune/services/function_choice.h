// Chooses the function of a program to call, and its argument shapes.
#pragma once

#include <string>
#include <vector>

#include "tune/services/given_arguments.h"

namespace hone::tune {

// Returns the function with its open shapes filled in from the given arguments. Input errors:
// arguments that do not fit; a missing one that hone cannot make up: a shape, a trip count, an
// index of unknown range.
Result<problem::Function> as_called(problem::Function function,
                                    const std::vector<GivenArgument>& given);

// Returns the function called `wanted`, as called. If that is empty: the first that hone can make
// arguments for, preferably one with results. Input errors: no function of that name (with the
// nearest names); given arguments that do not fit. Failure, with the reason, if none can be called.
Result<problem::Function> function_to_call(const problem::Program& program,
                                           const std::string& wanted,
                                           const std::vector<GivenArgument>& given);

// Whether a function that `wanted` means (see function_to_call) has sizes that nobody gave.
bool lacks_sizes(const problem::Program& program, const std::string& wanted);

}  // namespace hone::tune
