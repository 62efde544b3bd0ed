// What becomes of soft rules that contradict each other.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// `space`, or where its soft rules together leave nothing (odd extents, small problems) one without
// those that give way: the first of `giving_way` that suffices alone, or else as many of them, in
// that order, as it takes; all soft rules where that does not suffice. Errors: the space's own.
Result<space::Space> without_contradictions(const space::Space& space,
                                            std::span<const std::string_view> giving_way);

}  // namespace hone::iree
