// Products of matrices written in C, as a provider: what the tuner asks.
#pragma once

#include "provider/provider.h"

namespace hone::plain_c {

// Of dispatches of dispatch_of(Product).
class Provider final : public provider::Provider {
 public:
  std::string_view name() const override { return "plain_c"; }
  std::string_view constraint_set() const override { return "plain_c"; }
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // The more columns in registers and the more cc does, the better.
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
};

}  // namespace hone::plain_c
