// What a user gives as arguments of a function, or of a dispatch (--input).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "problem/npy.h"

namespace hone::tune {

struct GivenArgument {
  std::string name;                         // for messages: "--input 'a.npy'"
  std::optional<problem::TensorType> type;  // none: what is wanted
  std::optional<problem::Array> array;      // of a file, of type *type
  std::vector<double> values;  // one for all elements or one for each; none: made up by hone
};

// As iree-run-module has it: "@a.npy" (or just the path), "2x3xf32=0.5", "2x3xf32=1,2,3,4,5,6",
// "=0.5" of the type that is wanted; and "2x3xf32", of values that hone makes up. Input errors: no
// such file, no number, as many values as neither one nor all elements, an open extent.
Result<GivenArgument> given_argument(const std::string& text);

// "4x8xf32, 8xf32".
std::string list_of(const std::vector<problem::TensorType>& types);

// `wanted` with the extents that it leaves open as `given` has them; itself where they have other
// numbers of dimensions.
problem::TensorType filled_in(problem::TensorType wanted, const problem::TensorType& given);

// What `sizes` and the shapes of `given`, arguments of `function` or of any where that is empty,
// say of a program's sizes.
problem::GivenSizes sizes_given(problem::SizeSet sizes, const std::string& function,
                                const std::vector<GivenArgument>& given);

// `wanted` with the extents that it leaves open as they were given; `what` they are in messages:
// "the inputs of 'f'". The last ones need not be given. Input error
// where there are more, or shape or element type do not fit.
Result<std::vector<problem::TensorType>> types_given(std::vector<problem::TensorType> wanted,
                                                     const std::vector<GivenArgument>& given,
                                                     const std::string& what);

// An array for each of `wanted`, which may leave open what was given: the given ones, in order, or
// where none is given made up from `seed`: reals of about unit size, small whole numbers for
// integer types, those of `ranges` within them. Input errors: types_given's; an extent that stays
// open.
Result<std::vector<problem::Array>> arguments_for(
    const std::vector<problem::TensorType>& wanted, const std::vector<GivenArgument>& given,
    const std::string& what, std::uint64_t seed,
    const std::vector<problem::InputRange>& ranges = {});

}  // namespace hone::tune
