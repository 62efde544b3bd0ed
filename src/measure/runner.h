// Loads, verifies and times candidates of one dispatch on one device. Lives in the runner process,
// which may die of any candidate; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/library.h"
#include "measure/accuracy.h"
#include "measure/calibration.h"
#include "measure/launch_operands.h"
#include "measure/runner_requests.h"
#include "measure/workload.h"
#include "provider/message.h"

namespace hone::measure {

// Libraries that candidates are compared with.
using Libraries = std::vector<std::unique_ptr<device::Library>>;

// By handle and output.
using Accuracies = std::vector<std::vector<OutputAccuracy>>;

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
  Status expect_problem(const ProblemRequest& request);

  // Loads a candidate; its handle is valid until unload() or the next problem.
  Result<int> load(const provider::Artifact& artifact);
  // Adds the libraries' kernels for the problem as further handles, so that they are verified and
  // measured interleaved with the candidates. The kernels of one library follow one another, its
  // own choice first. They run over the candidates' own buffers, or on inputs of their own if the
  // library computes something else (LibraryKernels::problem). Handles of an earlier call are gone.
  // If no library has a kernel: the error of the first, or an environment error if none is for this
  // kind of device.
  Result<std::vector<LibraryBaseline>> load_baselines();
  Status unload(int handle);

  // Launches once on fresh buffers and checks the outputs against the reference. A failure only if
  // the kernel reports an error itself; a wrong result is a Verification that says so.
  Result<Verification> verify(int handle);

  // Launches it again and compares each launch (verify_repeatedly). A failure only when the
  // kernel reports an error itself.
  Result<Repeated> repeat(const RepeatRequest& request);

  // Returns, by handle, the accuracy of the float outputs (accuracy.h), for a dispatch that has a
  // statement.
  Result<Accuracies> accuracies(const std::vector<int>& handles);

  // Returns the suspicion that the kernel's outputs match; -1: none of them (accuracy.h).
  Result<int> find_mistake(const MistakeRequest& request);

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

// The runner's jobs, with their names, requests and answers.
namespace jobs {

using provider::Job;
using provider::kBody;
using provider::Nothing;

inline constexpr Job<ProblemRequest, ProblemReady> kSetProblem{"set_problem"};
// Prepares the problem while another problem's kernels run.
inline constexpr Job<ProblemRequest, Nothing> kExpectProblem{"expect_problem"};
inline constexpr Job<provider::Artifact, int> kLoad{"load", "artifact", "handle"};
inline constexpr Job<Nothing, std::vector<LibraryBaseline>> kBaselines{"baselines", kBody,
                                                                       "baselines"};
inline constexpr Job<int, Verification> kVerify{"verify", "handle"};
inline constexpr Job<RepeatRequest, Repeated> kRepeat{"repeat"};
inline constexpr Job<std::vector<int>, Accuracies> kAccuracies{"accuracies", "handles", "kernels"};
// The mistake's place in the list; -1: none of them.
inline constexpr Job<MistakeRequest, int> kFindMistake{"find_mistake", kBody, "found"};
// Outputs of the last kVerify.
inline constexpr Job<Nothing, Outputs> kOutputs{"outputs", kBody, "bindings"};
inline constexpr Job<MeasureRequest, MeasureResult> kMeasure{"measure"};
inline constexpr Job<int, Nothing> kUnload{"unload", "handle"};
inline constexpr Job<CalibrationRequest, Calibration> kCalibrate{"calibrate"};
inline constexpr Job<Nothing, device::Peak> kPeak{"peak"};

}  // namespace jobs

// Does a job. A load error for an unknown kind, for a body of another form, and for anything the
// runner cannot do.
provider::Outcome handle(Runner& runner, Message message);

// A problem's inputs and expected outputs, prepared before its kernels are loaded: on the runner's
// own thread, or ahead of its turn while another problem's kernels are measured.
struct PreparedProblem {
  std::array<LaunchOperands, kOperandSets> operands;
  ExpectedOutputs expected;  // empty where kernels are only timed
  std::string reference;     // ProblemReady::reference
};

using OpenDevice = std::function<Result<std::unique_ptr<device::Device>>(const device::Address&)>;

// Prepares the next problems, each on a thread of its own. Not for kernels that run on the host's
// cores, which they would disturb.
class ProblemsAhead {
 public:
  static constexpr std::size_t kMost = 4;

  // Begins, unless all together would take more than a quarter of the free memory. Beyond kMost it
  // waits for the oldest and drops it.
  void begin(const ProblemRequest& request, OpenDevice open);
  // Returns the problem, once it is ready, and drops those that were begun before it; nullopt if it
  // was not begun.
  std::optional<Result<PreparedProblem>> take(const ProblemRequest& request);

 private:
  struct Begun {
    std::string key;
    std::int64_t bytes;  // of its bindings
    std::future<Result<PreparedProblem>> prepared;
  };
  std::deque<Begun> begun_;
};

}  // namespace hone::measure
