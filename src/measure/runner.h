// Runs candidates of one dispatch on one device: loads, verifies and times them. Lives in the
// runner process, which may die of any candidate; one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device_kind.h"
#include "device/library.h"
#include "measure/accuracy.h"
#include "measure/calibration.h"
#include "measure/repeated_verification.h"
#include "measure/runner_requests.h"

namespace hone::measure {

// What candidates are compared with.
using Libraries = std::vector<std::unique_ptr<device::Library>>;

class Runner {
 public:
  // `kinds`: of the devices it can open, the host's cores (device::kHostKind) among them where a
  // reference is to be run. A request for a device of another kind is an environment error.
  explicit Runner(std::vector<device::DeviceKind> kinds, Libraries libraries = {});
  ~Runner();

  // Opens the device, builds inputs and the reference outputs. A bare contraction (nothing fused
  // around it but a fill) is computed exactly by hone itself; anything else by running
  // `reference`, an artifact that was compiled independently of the candidates (input error when
  // it is missing), on the host's cores wherever the candidates run. What was loaded before is
  // gone.
  Result<ProblemReady> set_problem(const ProblemRequest& request);
  // Begins with the inputs and the reference of a problem that will be set later, on a thread of
  // its own: set_problem() of an equal request has them then. What is loaded stays. Not for a
  // device whose kernels it would disturb.
  void expect_problem(const ProblemRequest& request);

  // Loads a candidate; its handle is valid until unload() or the next problem.
  Result<int> load(const provider::Artifact& artifact);
  // Adds what the libraries for this kind of device make of the problem as further handles, so that
  // they are verified and measured interleaved with the candidates. The kernels of one library
  // follow one another, its own choice first; they run over the candidates' own buffers, or where
  // the library computes something else (LibraryKernels::problem) on inputs of their own. Handles
  // of an earlier call are gone. When no library has a kernel: the error of the first, or an
  // environment error when none is for this kind of device.
  Result<std::vector<Baseline>> load_baselines();
  Status unload(int handle);

  // One launch on fresh buffers, checked against the reference. A failure only when the kernel
  // reports an error itself; a wrong result is a Verification that says so.
  Result<Verification> verify(int handle);

  // Launches it again and compares each launch (repeated_verification.h). A failure only when the
  // kernel reports an error itself.
  Result<Repeated> repeat(const RepeatRequest& request);

  // By handle the accuracy of its float outputs (accuracy.h), for a dispatch that has a statement.
  Result<std::vector<std::vector<OutputAccuracy>>> accuracies(const std::vector<int>& handles);

  // Which of the mistakes it makes; -1: none of them (accuracy.h).
  Result<int> find_mistake(int handle, const std::vector<provider::Suspicion>& suspicions);

  // What the last verify() left in the bindings that are written.
  Result<Outputs> outputs() const;

  // Times the handles of the request, interleaved: in every round each takes one sample, in random
  // order, the sentinel among them.
  Result<MeasureResult> measure(const MeasureRequest& request);

  // How quiet the device is (calibration.h); what was loaded stays where it is the problem's, else
  // it is gone.
  Result<Calibration> calibrate(const CalibrationRequest& request);

  Result<device::Peak> peak();

  // A candidate has left the device unusable for this process, which must end.
  bool has_lost_its_device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::measure
