// Two kernels of one dispatch: compiled, verified, then measured in turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/comparison.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "trial/compile_service.h"
#include "tune/compare/compare.h"

namespace hone::tune {

struct ToCompile {
  std::string what;  // for messages
  std::optional<provider::Payload> payload = {};
};

// Compiles a dispatch in each of `ways`; returns the artifacts in their order. A failure, with the
// compiler's words, if one does not compile.
Result<std::vector<provider::Artifact>> compile_ways(trial::CompileService& compiler,
                                                     const trial::DispatchToPrepare& dispatch,
                                                     const std::vector<ToCompile>& ways);

struct KernelPair {
  problem::Dispatch dispatch;
  std::optional<provider::Artifact> reference;  // none: a bare contraction, computed exactly
  provider::Artifact a;
  provider::Artifact b;
};

// Verifies both kernels and measures them in turn. Fills in the times, the result, and the failure
// if A or B does not load, run or compute what the reference does. `statistics`: of this pair.
Status compare_kernels(const CompareContext& context, const KernelPair& kernels,
                       const measure::ComparisonOptions& statistics, ComparedPair& pair);

}  // namespace hone::tune
