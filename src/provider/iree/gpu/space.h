// The configurations of a dispatch on a GPU: what the compiler states, and where it states nothing
// hone's own (own_space.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// The space that the compiler states (Dispatch::stated_constraints) with hone's rules, or without
// such a statement hone's own. Input error when neither has one. `audited`: as space_of's
// (stated_space.h), of stated spaces only.
Result<space::Space> gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target,
                               std::string_view audited = {});
// As gpu_space(), but without what hone adds. Input error if the compiler states nothing for the
// dispatch; it states nothing for CPUs.
Result<space::Space> compiler_space(const problem::Dispatch& dispatch);
// Why there is none; empty where there is one.
std::string why_no_gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target);

// The pipelines of a GPU's space, by the values of its knob kPipelineKnob; empty where it has none.
std::vector<std::string> pipeline_names(const space::Space& space);

// What the compiler is told for one of its configurations.
Result<Attributes> gpu_attributes(const problem::Dispatch& dispatch,
                                  const problem::GpuTarget& target, const space::Space& space,
                                  const space::Configuration& configuration);

}  // namespace hone::iree
