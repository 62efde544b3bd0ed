// Which function of a program is called, and as what.
#pragma once

#include <string>
#include <vector>

#include "tune/services/given_arguments.h"

namespace hone::tune {

// The function, with the shapes of what was given where it leaves them open. Input error where the
// arguments do not fit it, and where one is not given that hone cannot make up: a shape, a trip
// count, an index whose range is not known.
Result<problem::Function> as_called(problem::Function function,
                                    const std::vector<GivenArgument>& given);

// The function called `wanted`, or where that is empty the first that hone can make arguments for:
// of those with results, if there is one. As it is called. Input errors: there is no function of
// that name (with the nearest names), the arguments given do not fit it. A failure that says why
// where none can be called.
Result<problem::Function> function_to_call(const problem::Program& program,
                                           const std::string& wanted,
                                           const std::vector<GivenArgument>& given);

// Whether a function that `wanted` means, as there, has sizes that nobody has given.
bool lacks_sizes(const problem::Program& program, const std::string& wanted);

}  // namespace hone::tune
