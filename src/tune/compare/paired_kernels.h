// Two kernels of one dispatch, verified and measured in pairs.
#pragma once

#include "provider/artifact.h"
#include "tune/compare/compare.h"

namespace hone::tune {

struct KernelPair {
  problem::Dispatch dispatch;
  std::optional<provider::Artifact> reference;  // none: a bare contraction, computed exactly
  provider::Artifact a;
  provider::Artifact b;
};

// Fills in the times, the result, and the failure where A or B does not load, run or compute what
// the reference does. `statistics`: of this pair.
Status compare_kernels(const CompareContext& context, const KernelPair& kernels,
                       const measure::ComparisonOptions& statistics, ComparedPair& pair);

}  // namespace hone::tune
