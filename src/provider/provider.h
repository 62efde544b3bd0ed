// The Provider seam: who makes artifacts and states their space. A Provider lives in the tuner's
// process and never calls a compiler itself: compiling is done by worker processes
// (trial/compile_service.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "problem/dispatch.h"
#include "provider/payload.h"
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
  // Why there is no space for a dispatch, given what the compiler states; empty where there is.
  virtual std::string why_no_space(const problem::Dispatch& dispatch) const {
    return dispatch.not_tunable;
  }
  // The legal configurations of a dispatch. An input error that says why there are none to state.
  virtual Result<space::Space> space_of(const problem::Dispatch& dispatch) const = 0;

  // What the compiler is told for `configuration`, which is one of space_of(dispatch).
  virtual Result<Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                     const space::Configuration& configuration) const = 0;
  // What a model expects of a configuration, lower is better, for searches that try the best of it
  // first; empty where there is no model. The function may outlive dispatch and space.
  virtual std::function<double(const space::Configuration&)> prior(const problem::Dispatch&,
                                                                   const space::Space&) const {
    return {};
  }
  // Returns a candidate as it is to ship, if it is searched for in another form (values that are
  // arguments during the search are constants of what ships); nothing if it has only one form.
  virtual std::optional<ShippedForm> as_shipped(const Payload&) const { return std::nullopt; }
  // Seconds that no kernel of its own for the dispatch takes less than, on a device with this peak;
  // 0: not known.
  virtual double least_seconds(const problem::Dispatch&, const device::Peak&) const { return 0; }
  // How a kernel adds up, for people: the type of its sums, and in which order as far as that is
  // known. `payload`: of its own; nothing: the compiler's default. Empty where nothing is known.
  virtual std::string summation(const problem::Dispatch&, const std::optional<Payload>&) const {
    return "";
  }
  // What a kernel of its own that is wrong may have done, the likeliest first; of use for a
  // dispatch that has a statement.
  virtual std::vector<Suspicion> suspicions(const problem::Dispatch&) const { return {}; }
  // Whether a flag of the compiler's says only where code will run: all compiles for devices of one
  // kind have it, and it tells nothing of what two of them differ in.
  virtual bool names_the_device(std::string_view) const { return false; }
};

}  // namespace hone::provider
