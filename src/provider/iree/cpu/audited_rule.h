// Audits of hone's hard rules for CPUs: what lies just outside of one of them (hone space
// --audit-rule).
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// The space that `builder` states, but with what breaks the hard rule called `rule` instead of what
// keeps it; all other hard rules hold. Soft rules hold too, but for those without which nothing
// breaks the rule: those of `relaxation_order` go first, in that order, and none that need not.
// Empty where no values of the knobs break this rule alone. Errors: SpaceBuilder::build's; an input
// error that names the hard rules there are, where none is called so.
Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order);

}  // namespace hone::iree
