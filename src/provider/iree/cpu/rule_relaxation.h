// What becomes of soft rules that contradict each other.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// `space`, or where its soft rules together leave less than a search is for, 16 configurations (odd
// extents, small problems), one without the first of `relaxation_order` that alone leaves so many,
// and 16 times as many. Where none does, `space` if it has any; else without the first that alone
// leaves any, or without as many of them, in that order, as it takes, or without all soft rules.
// Errors: the space's own.
Result<space::Space> relaxed_to_searchable(const space::Space& space,
                                           std::span<const std::string_view> relaxation_order);

}  // namespace hone::iree
