// Loads, verifies and times candidates of one dispatch on one device. Lives in the runner process,
// which may die of any candidate; one thread.
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

// Libraries that candidates are compared with.
using Libraries = std::vector<std::unique_ptr<device::Library>>;

class Runner {
 public:
  // `kinds`: kinds of devices it can open, including the host's cores (device::kHostKind) if a
  // reference is to be run. A request for a device of another kind is an environment error.
  explicit Runner(std::vector<device::DeviceKind> kinds, Libraries libraries = {});
  ~Runner();

  // Opens the device, builds the inputs and the reference outputs. hone itself computes a bare
  // contraction (nothing fused around it but a fill) exactly. For anything else it runs
  // `reference`, an artifact compiled independently of the candidates (input error if it is
  // missing). That runs on the host's cores wherever the candidates run. Unloads all that was
  // loaded before.
  Result<ProblemReady> set_problem(const ProblemRequest& request);
  // Begins to make the inputs and the reference of a later problem on a thread of its own;
  // set_problem() of an equal request takes them. Loaded kernels stay. Not for a device whose
  // kernels it would disturb.
  void expect_problem(const ProblemRequest& request);

  // Loads a candidate; its handle is valid until unload() or the next problem.
  Result<int> load(const provider::Artifact& artifact);
  // Adds the libraries' kernels for the problem as further handles, so that they are verified and
  // measured interleaved with the candidates. The kernels of one library follow one another, its
  // own choice first. They run over the candidates' own buffers, or on inputs of their own if the
  // library computes something else (LibraryKernels::problem). Handles of an earlier call are gone.
  // If no library has a kernel: the error of the first, or an environment error if none is for this
  // kind of device.
  Result<std::vector<Baseline>> load_baselines();
  Status unload(int handle);

  // Launches once on fresh buffers and checks the outputs against the reference. A failure only if
  // the kernel reports an error itself; a wrong result is a Verification that says so.
  Result<Verification> verify(int handle);

  // Launches it again and compares each launch (repeated_verification.h). A failure only when the
  // kernel reports an error itself.
  Result<Repeated> repeat(const RepeatRequest& request);

  // Returns, by handle, the accuracy of the float outputs (accuracy.h), for a dispatch that has a
  // statement.
  Result<std::vector<std::vector<OutputAccuracy>>> accuracies(const std::vector<int>& handles);

  // Returns the suspicion that the kernel's outputs match; -1: none of them (accuracy.h).
  Result<int> find_mistake(int handle, const std::vector<provider::Suspicion>& suspicions);

  // Returns the contents that the last verify() left in the written bindings.
  Result<Outputs> outputs() const;

  // Times the handles of the request, interleaved: in every round each takes one sample, in random
  // order, the sentinel among them.
  Result<MeasureResult> measure(const MeasureRequest& request);

  // Measures how quiet the device is (calibration.h). Loaded kernels stay if it is the problem's
  // device, else they are gone.
  Result<Calibration> calibrate(const CalibrationRequest& request);

  Result<device::Peak> peak();

  // A candidate has left the device unusable for this process, which must end.
  bool has_lost_its_device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::measure
