// The user's own kernels instead of the compiler's, for dispatches of the form in the kernel's
// manifest (dispatch_form.h).
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "provider/external/external_kernel.h"
#include "provider/provider.h"

namespace hone::external {

class ExternalProvider : public provider::Provider {
 public:
  // `shared_bytes`: memory that a workgroup of the device may have.
  ExternalProvider(ExternalKernel kernel, std::int64_t shared_bytes)
      : kernel_(std::move(kernel)),
        name_(fmt::format("external:{}@{}", kernel_.name(), kernel_.content.substr(0, 8))),
        shared_bytes_(shared_bytes) {}

  // "external:linear@1a2b3c4d": the kernel's name and its content hash. A changed kernel is another
  // kernel with its own results.
  std::string_view name() const override { return name_; }
  std::string_view constraint_set() const override { return "manifest"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  // The manifest's knobs and constraints; a single configuration if it has no knobs.
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // Distance of the knobs' values from the manifest's default, in steps: the kernel's author knows
  // roughly where it is fast.
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  std::vector<provider::Suspicion> suspicions(const problem::Dispatch& dispatch) const override;

 private:
  ExternalKernel kernel_;
  std::string name_;
  std::int64_t shared_bytes_ = 0;
};

}  // namespace hone::external
