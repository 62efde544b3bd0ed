// The configuration space of a dispatch compiled by IREE's llvm-cpu backend. The compiler states no
// space for a CPU, so hone does: a nest of tiles (space_parts.h) with the rules of its root
// operation. There are three sets of rules: contractions (contraction_space.h), convolutions and
// poolings (convolution_space.h), and all other roots (generic_space.h). docs/spaces.md lists the
// rules with their reasons and the measurements behind the soft ones.
#pragma once

#include <string_view>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// The space of one dispatch on one CPU. If its soft rules together leave too little (odd extents,
// small problems), some are relaxed (space_parts.h). With `audited`, the name of one of its
// hard rules, it holds the configurations that break this rule alone (space_outside()). Input
// errors: a root without such a space, and why; a target without vector registers; those of
// space_outside.
Result<space::Space> cpu_space(const problem::Dispatch& dispatch, const problem::CpuTarget& target,
                               std::string_view audited = {});

// Converts `configuration`, which is of that space, to IREE attributes in MLIR's text (IREE 3.13).
// Input error: the space lacks one of the root's knobs.
Result<Attributes> cpu_attributes(const problem::Dispatch& dispatch, const space::Space& space,
                                  const space::Configuration& configuration);

}  // namespace hone::iree
