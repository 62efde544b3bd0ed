// Triton kernels in the place of IREE's: for dispatches that are one contraction or convolution and
// what goes element by element behind it (problem::Dispatch::contraction).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "provider/provider.h"
#include "provider/triton/gemm_device.h"

namespace hone::triton {

// The product that a dispatch's contraction is once the loops of one role are taken as one: m of a
// convolution is its images times the rows and columns of a result. An input error that says why
// there is no kernel for it.
Result<Gemm> product_of(const problem::Dispatch& dispatch);

// The kernel is made for one dispatch (python/contraction.py): a program for each tile, the k loops
// in steps of BLOCK_K, what follows the sums behind them. It is launched as IREE's is, so there is
// no scratch memory, and so no split-K and no tensor descriptors.
class ContractionProvider : public provider::Provider {
 public:
  // `version`: of Triton, "3.6.0".
  ContractionProvider(GemmDevice device, std::string_view version)
      : device_(std::move(device)), name_("triton@" + std::string(version)) {}

  // "triton@3.6.0": what another version makes of a configuration is another kernel.
  std::string_view name() const override { return name_; }
  std::string_view constraint_set() const override { return "contraction"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  // BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, num_warps, num_stages, by the rules of gemm_rules.h.
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;

 private:
  GemmDevice device_;
  std::string name_;
};

}  // namespace hone::triton
