#include "provider/iree/cpu/space.h"

#include <algorithm>

namespace hone::iree {
namespace {

bool is_fill(const std::string& fused) {
  return fused.starts_with("fill");
}

bool is_convolution(const problem::Dispatch& dispatch) {
  return dispatch.root.kind == problem::OperationKind::kConvolution;
}

}  // namespace

Result<space::Space> cpu_space(const problem::Dispatch& dispatch, const problem::CpuTarget& target,
                               std::string_view audited) {
  if (is_convolution(dispatch)) return llvm_cpu_convolution_space(dispatch.root, target, audited);
  if (has_generic_space(dispatch)) return llvm_cpu_generic_space(dispatch, target, audited);
  LlvmCpuDispatchFacts facts;
  facts.fused_consumers = !std::ranges::all_of(dispatch.fused, is_fill);
  return llvm_cpu_contraction_space(dispatch.root, target, facts, audited);
}

Result<Attributes> cpu_attributes(const problem::Dispatch& dispatch, const space::Space& space,
                                  const space::Configuration& configuration) {
  if (is_convolution(dispatch))
    return llvm_cpu_convolution_attributes(dispatch.root, space, configuration);
  if (has_generic_space(dispatch))
    return llvm_cpu_generic_attributes(dispatch, space, configuration);
  HONE_ASSIGN(Attributes attributes,
              llvm_cpu_contraction_attributes(dispatch.root, space, configuration));
  // A root that accumulates into what it is given (a bias that was broadcast before it) has no fill
  // when a spec is applied; the compiler makes one later.
  if (std::ranges::none_of(dispatch.fused, is_fill)) attributes.init_config.clear();
  return attributes;
}

}  // namespace hone::iree
