// Triton kernels that replace IREE's, for dispatches that state what they compute
// (problem::Dispatch::statement): contractions, convolutions, attention.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "provider/provider.h"
#include "provider/triton/gemm_device.h"

namespace hone::triton {

// Makes one kernel for each dispatch (python/stated_kernel.py), launched as IREE's is. The kind of
// the dispatch's statement selects the space (stated_spaces.h).
class ReplacingProvider : public provider::Provider {
 public:
  // `version`: of Triton, "3.6.0".
  ReplacingProvider(GemmDevice device, std::string_view version)
      : device_(std::move(device)), name_("triton@" + std::string(version)) {}

  // "triton@3.6.0": another version compiles a configuration to another kernel.
  std::string_view name() const override { return name_; }
  std::string_view constraint_set() const override { return "replacing"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  // "f32, 64 at a time, in 4 parts".
  std::string summation(const problem::Dispatch& dispatch,
                        const std::optional<provider::Payload>& payload) const override;

 private:
  GemmDevice device_;
  std::string name_;
};

}  // namespace hone::triton
