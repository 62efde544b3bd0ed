// Audits of hone's hard rules for CPUs: configurations just outside of one rule (hone space
// --audit-rule).
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// Builds the space of configurations that break the hard rule `rule` and keep all other hard rules.
// Soft rules hold too, as far as some configuration then breaks `rule`. Otherwise rules are dropped
// in the order `relaxation_order`, and only those that must go. Empty if no values of the knobs
// break this rule alone. Errors: SpaceBuilder::build's; an input error that lists the hard rules if
// none has this name.
Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order);

}  // namespace hone::iree
