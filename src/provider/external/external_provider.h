// The user's own kernels instead of the compiler's, for dispatches of the form in the kernel's
// manifest (dispatch_form.h), and their likely mistakes.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "provider/external/dispatch_form.h"
#include "provider/external/external_kernel.h"
#include "provider/provider.h"
#include "provider/suspicion.h"

namespace hone::external {

// Returns ways in which a kernel may differ from its manifest. A suspicion for: each operand in
// every other layout of its dimensions that moves some element; the result added to the previous
// content; a skipped epilogue operand, or the whole epilogue skipped; the last terms of the sums
// skipped, by the usual steps along the longest of their loops.
std::vector<provider::Suspicion> suspicions_of(const ExternalKernel& kernel,
                                               const NamedStatement& named);

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
