// The Provider seam: makes artifacts and states their space. A Provider lives in the tuner's
// process and never calls a compiler itself. Worker processes compile (trial/compile_service.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "provider/suspicion.h"
#include "space/space.h"

namespace hone::provider {

// A candidate as it is to ship, where it is searched for in another form.
struct ShippedForm {
  Payload payload;
  std::string configuration;  // JSON, for the store: the space does not have the form's values
};

class Provider {
 public:
  virtual ~Provider() = default;

  virtual std::string_view name() const = 0;
  // Names the rules that candidates are drawn by, for the store: "gpu", "tune_gemm".
  virtual std::string_view constraint_set() const = 0;

  // Whether the compiler itself states the space of a dispatch (Dispatch::stated_constraints); it
  // is asked before space_of() is.
  virtual bool compiler_states_spaces() const { return false; }
  // Reason why a dispatch has no space, given the compiler's constraints; empty if it has one.
  virtual std::string why_no_space(const problem::Dispatch& dispatch) const {
    return dispatch.not_tunable;
  }
  // The legal configurations of a dispatch. An input error states why there are none.
  virtual Result<space::Space> space_of(const problem::Dispatch& dispatch) const = 0;

  // Encodes `configuration`, a member of space_of(dispatch), for the compiler.
  virtual Result<Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                     const space::Configuration& configuration) const = 0;
  // Cost model for searches that try the best predictions first; lower is better. Empty if there is
  // no model. The function may outlive dispatch and space.
  virtual std::function<double(const space::Configuration&)> prior(const problem::Dispatch&,
                                                                   const space::Space&) const {
    return {};
  }
  // Returns the shipped form of a candidate, if it differs from the form that is searched; nothing
  // if there is only one. Values that are arguments during the search are then constants of the
  // shipped kernel.
  virtual std::optional<ShippedForm> as_shipped(const Payload&) const { return std::nullopt; }
  // Lower bound, in seconds, on the time of this provider's kernels for the dispatch on a device
  // with this peak; 0: not known.
  virtual double least_seconds(const problem::Dispatch&, const device::Peak&) const { return 0; }
  // Describes for people how a kernel sums: the type of its sums, and their order as far as known.
  // `payload` is one of this provider's; without it, the compiler's default. Empty if nothing is
  // known.
  virtual std::string summation(const problem::Dispatch&, const std::optional<Payload>&) const {
    return "";
  }
  // Likely mistakes of a wrong kernel of this provider, most likely first. Useful only if the
  // dispatch has a statement.
  virtual std::vector<Suspicion> suspicions(const problem::Dispatch&) const { return {}; }
  // Whether a compiler flag states only where code will run. All compiles for devices of one kind
  // have such a flag, so it does not distinguish two of them.
  virtual bool names_the_device(std::string_view) const { return false; }
};

}  // namespace hone::provider
