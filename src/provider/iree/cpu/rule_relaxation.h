// Spaces without some of their rules: soft rules that contradict each other are relaxed, and an
// audited hard rule is broken.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// Audits a hard rule by the configurations just outside of it (hone space --audit-rule). Builds the
// space of configurations that break the hard rule `rule` and keep all other hard rules. Soft rules
// hold too, as far as some configuration then breaks `rule`. Otherwise rules are dropped in the
// order `relaxation_order`, and only those that must go. Empty if no values of the knobs break this
// rule alone. Errors: SpaceBuilder::build's; an input error that lists the hard rules if none has
// this name.
Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order);

// Builds the space that `builder` states and relaxes it (relaxed_to_searchable). With `audited`,
// the name of one of its hard rules, returns the configurations that break this rule alone
// (space_outside). Errors: SpaceBuilder::build's, space_outside's.
Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited);

}  // namespace hone::iree
