// Configuration spaces of dispatches on a GPU: the compiler's constraints, or hone's own
// (own_space.h) if the compiler states none.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// Returns the space that the compiler states (Dispatch::stated_constraints) with hone's rules, or
// hone's own space if there is no such statement. Input error if neither has one. `audited`: as in
// space_of() (stated_space.h), for stated spaces only.
Result<space::Space> gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target,
                               std::string_view audited = {});
// Returns the compiler's space without hone's additions. Input error if the compiler states nothing
// for the dispatch; it states nothing for CPUs.
Result<space::Space> compiler_space(const problem::Dispatch& dispatch);
// Why the dispatch has no space; empty if it has one.
std::string why_no_gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target);

// The pipelines of a GPU's space, by the values of its knob kPipelineKnob; empty where it has none.
std::vector<std::string> pipeline_names(const space::Space& space);

// Converts a configuration of that space to IREE attributes.
Result<Attributes> gpu_attributes(const problem::Dispatch& dispatch,
                                  const problem::GpuTarget& target, const space::Space& space,
                                  const space::Configuration& configuration);

}  // namespace hone::iree
