// What becomes of soft rules that contradict each other.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// Returns `space` if its soft rules together leave at least 16 configurations; a search is not for
// fewer (odd extents, small problems). Else returns it without the first rule of `relaxation_order`
// whose removal alone leaves 16, and 16 times as many as now. If no rule's does, returns `space`
// unless it is empty; else without the first rule whose removal alone leaves any configuration, or
// without as many of them, in that order, as it takes, or without all soft rules.
// Errors: the space's own.
Result<space::Space> relaxed_to_searchable(const space::Space& space,
                                           std::span<const std::string_view> relaxation_order);

// The space that `builder` states, relaxed_to_searchable(); with `audited`, the name of one of its
// hard rules, what breaks this rule alone (space_outside). Errors: SpaceBuilder::build's,
// space_outside's.
Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited);

}  // namespace hone::iree
