// Configuration spaces of dispatches on a GPU: the compiler's constraints, or hone's own if the
// compiler states none.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "problem/types.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// The matrix instructions that IREE 3.13 has for a GPU (the `mma` lists of its #iree_gpu.target
// attributes, printed by --compile-to=executable-sources).
struct MatrixInstruction {
  std::string name;  // "NV_MMA_SYNC_F32_16x8x16_F16"
  int m = 0, n = 0, k = 0;
};

// Instructions that multiply `input` and accumulate in `output`; empty if there are none.
std::vector<MatrixInstruction> matrix_instructions(const problem::GpuTarget& target,
                                                   problem::ElementType input,
                                                   problem::ElementType output);

// hone's own spaces for GPU operations for which IREE 3.13 states no constraints, or crashes when
// asked: matrix products and attention (product_spaces.cc), reductions along rows and outputs
// computed one by one by threads (memory_bound_spaces.cc). Reductions have two of these ways, and
// then kPipelineKnob says which (stated_space.h).

// Why hone has no space of its own for the operation; empty where it has one.
std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target);
// Input error with that reason.
Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target);
// Converts a configuration of that space to IREE attributes.
Result<Attributes> gpu_own_attributes(const problem::Operation& root,
                                      const problem::GpuTarget& target, const space::Space& space,
                                      const space::Configuration& configuration);

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
