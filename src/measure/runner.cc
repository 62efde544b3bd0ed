#include "measure/runner.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "measure/buffers.h"
#include "measure/launch_operands.h"
#include "measure/sampling.h"
#include "measure/workload.h"

namespace hone::measure {

namespace {

// Makes the workload of a library's kernels that compute `dispatch` instead of the problem's own:
// inputs of the same kind and seed, and the exact result.
Result<Workload> own_workload(const ProblemRequest& request, problem::Dispatch dispatch,
                              device::Device& device) {
  ProblemRequest own = request;
  own.dispatch = std::move(dispatch);
  own.inputs.clear();
  own.expected.clear();
  own.tolerance.reset();
  HONE_ASSIGN(auto operands, launch_operands(own));
  HONE_ASSIGN(auto expected, computed_outputs(own, operands));
  if (!expected) return input_error("{} is no product that hone computes", own.dispatch.name);
  std::string rotation_note;
  HONE_ASSIGN(Buffers buffers,
              make_buffers(own.dispatch.bindings, operands, own, rotation_note, &device));
  return make_workload(std::move(buffers), std::move(*expected), operands, device);
}

struct Candidate {
  std::unique_ptr<device::Kernel> kernel;
  Workload* workload = nullptr;
  bool is_library = false;
};

// Draws of inputs, at most, while an element of the reference is not finite.
constexpr int kMostDraws = 4;

// Runs the reference, code for the host, on a device of its own.
Result<ExpectedOutputs> run_reference_on(device::Device& host, const ProblemRequest& request,
                                         const std::array<LaunchOperands, kOperandSets>& operands) {
  const provider::Artifact& reference = *request.reference;
  HONE_ASSIGN(Buffers buffers, Buffers::create(request.dispatch.bindings, operands[0].contents, 1,
                                               &host, operands[1].contents));
  HONE_ASSIGN(auto kernel, host.load(reference.format, reference.code,
                                     problem::over_bindings(reference.launch, request.dispatch)));
  return run_reference(*kernel, buffers);
}

// Generates the inputs and computes the references, or runs `request.reference` on the host's
// cores, which `open` opens. Inputs are drawn again where an element of the reference is not
// finite. Errors as Runner::set_problem().
Result<PreparedProblem> prepare_problem(const ProblemRequest& request, const OpenDevice& open) {
  PreparedProblem prepared;
  prepared.reference = "artifact";
  for (int draw = 0;; ++draw) {
    HONE_ASSIGN(prepared.operands, launch_operands(request, draw));
    if (request.only_timed) return prepared;
    if (const std::string why = not_verifiable(request.dispatch, prepared.operands);
        !why.empty() && !request.tolerance)
      return failure("{} cannot be verified: {}", request.dispatch.name, why);
    HONE_ASSIGN(auto computed, computed_outputs(request, prepared.operands));
    if (computed) {
      prepared.reference = request.expected.empty() ? "exact" : "given";
    } else {
      if (!request.reference)
        return input_error(
            "{} is no contraction that hone computes; its reference must be given as an artifact",
            request.dispatch.name);
      HONE_ASSIGN(const auto host, open(device::host_of(request.device)));
      HONE_ASSIGN(computed, run_reference_on(*host, request, prepared.operands));
    }
    prepared.expected = std::move(*computed);
    // Never redraw what the user gives.
    if (prepared.reference == "given" || !request.inputs.empty()) return prepared;
    const std::string wrong = not_finite(request.dispatch, prepared.expected);
    if (wrong.empty()) return prepared;
    if (draw + 1 == kMostDraws)
      return failure("{} cannot be verified: of its reference {}, whatever the inputs",
                     request.dispatch.name, wrong);
  }
}

}  // namespace

struct Runner::State {
  std::vector<device::DeviceKind> kinds;
  Libraries libraries;
  ProblemRequest problem;
  ProblemsAhead ahead;
  // In this order: kernels go before the device that runs them.
  std::unique_ptr<device::Device> device;
  std::unique_ptr<Workload> workload;
  std::vector<std::unique_ptr<Workload>> library_workloads;
  std::map<int, Candidate> candidates;
  int next_handle = 1;  // never used again, so that a stale one is noticed

  Result<std::unique_ptr<device::Device>> open(const device::Address& address) const {
    const auto kind = std::ranges::find(kinds, address.kind, &device::DeviceKind::name);
    if (kind == kinds.end())
      return environment_error("this runner knows no devices of kind '{}'", address.kind);
    return kind->open(address);
  }

  OpenDevice opener() const {
    return [this](const device::Address& address) { return open(address); };
  }

  void clear() {
    candidates.clear();
    library_workloads.clear();
    workload.reset();
    device.reset();
  }

  Status check_ready() const {
    if (!device || !workload)
      return input_error("the runner has no problem yet: set_problem first");
    return {};
  }

  Status check_verifiable() const {
    if (problem.only_timed) return input_error("this problem is without a reference: only_timed");
    return {};
  }

  Result<Candidate*> find(int handle) {
    const auto found = candidates.find(handle);
    if (found == candidates.end())
      return input_error("handle {} is not loaded (of another problem, or unloaded)", handle);
    return &found->second;
  }

  int add(std::unique_ptr<device::Kernel> kernel, Workload& on, bool is_library = false) {
    candidates[next_handle] = {std::move(kernel), &on, is_library};
    return next_handle++;
  }

  Result<std::vector<LibraryBaseline>> load(device::Library& library) {
    HONE_ASSIGN(device::LibraryKernels found,
                library.kernels(problem.dispatch, *device, problem.device.cores));
    Workload* on = workload.get();
    if (found.problem) {
      HONE_ASSIGN(Workload own, own_workload(problem, std::move(*found.problem), *device));
      on = library_workloads.emplace_back(std::make_unique<Workload>(std::move(own))).get();
    }
    std::vector<LibraryBaseline> baselines;
    for (device::LibraryKernel& each : found.kernels)
      baselines.push_back({.handle = add(std::move(each.kernel), *on, /*is_library=*/true),
                           .provider = std::string(library.name()),
                           .library = found.library,
                           .algorithm = std::move(each.algorithm),
                           .note = found.note});
    return baselines;
  }
};

Runner::Runner(std::vector<device::DeviceKind> kinds, Libraries libraries)
    : state_(std::make_unique<State>()) {
  state_->kinds = std::move(kinds);
  state_->libraries = std::move(libraries);
}

Runner::~Runner() {
  if (state_) state_->clear();
}

Result<ProblemReady> Runner::set_problem(const ProblemRequest& request) {
  state_->clear();  // also unpins this thread, so that the reference below may use every core
  if (request.dispatch.bindings.empty())
    return input_error("{} has no bindings: nothing to run it on", request.dispatch.name);
  // Done before the device is opened, while no driver watches the reference run.
  std::optional<Result<PreparedProblem>> ahead = state_->ahead.take(request);
  HONE_ASSIGN(PreparedProblem prepared,
              ahead ? std::move(*ahead) : prepare_problem(request, state_->opener()));
  ProblemReady ready{.reference = std::move(prepared.reference), .copies = 1, .note = ""};
  HONE_ASSIGN(auto device, state_->open(request.device));
  HONE_ASSIGN(Buffers buffers, make_buffers(request.dispatch.bindings, prepared.operands, request,
                                            ready.note, device.get()));
  ready.copies = buffers.copies();
  HONE_ASSIGN(Workload workload, make_workload(std::move(buffers), std::move(prepared.expected),
                                               prepared.operands, *device));
  state_->workload = std::make_unique<Workload>(std::move(workload));
  state_->device = std::move(device);
  state_->problem = request;
  state_->problem.reference.reset();
  return ready;
}

Status Runner::expect_problem(const ProblemRequest& request) {
  state_->ahead.begin(request, state_->opener());
  return {};
}

Result<int> Runner::load(const provider::Artifact& artifact) {
  HONE_TRY(state_->check_ready());
  HONE_ASSIGN(auto kernel, state_->device->load(
                               artifact.format, artifact.code,
                               problem::over_bindings(artifact.launch, state_->problem.dispatch)));
  return state_->add(std::move(kernel), *state_->workload);
}

Result<std::vector<LibraryBaseline>> Runner::load_baselines() {
  HONE_TRY(state_->check_ready());
  std::erase_if(state_->candidates, [](const auto& each) { return each.second.is_library; });
  state_->library_workloads.clear();
  const std::string_view kind = state_->device->kind();
  std::vector<LibraryBaseline> baselines;
  std::optional<Error> why_not;
  for (const auto& library : state_->libraries) {
    if (library->device_kind() != kind) continue;
    auto loaded = state_->load(*library);
    if (loaded)
      std::ranges::move(*loaded, std::back_inserter(baselines));
    else if (!why_not)
      why_not = std::move(loaded).error();
  }
  if (!baselines.empty()) return baselines;
  if (why_not) return tl::unexpected(std::move(*why_not));
  return environment_error("hone knows no vendor's library for devices of kind {}", kind);
}

Status Runner::unload(int handle) {
  HONE_TRY(state_->find(handle));
  state_->candidates.erase(handle);
  return {};
}

Result<Verification> Runner::verify(int handle) {
  HONE_TRY(state_->check_verifiable());
  HONE_ASSIGN(Candidate * candidate, state_->find(handle));
  const double busy = state_->device->busy_seconds();
  HONE_ASSIGN(Verification verification, verify_kernel(*candidate->kernel, *candidate->workload));
  verification.busy_seconds = state_->device->busy_seconds() - busy;
  return verification;
}

Result<Repeated> Runner::repeat(const RepeatRequest& request) {
  HONE_TRY(state_->check_verifiable());
  HONE_ASSIGN(Candidate * candidate, state_->find(request.handle));
  const double busy = state_->device->busy_seconds();
  HONE_ASSIGN(Repeated repeated,
              verify_repeatedly(*candidate->kernel, *candidate->workload, request));
  repeated.verification.busy_seconds = state_->device->busy_seconds() - busy;
  return repeated;
}

Result<Accuracies> Runner::accuracies(const std::vector<int>& handles) {
  HONE_TRY(state_->check_ready());
  std::vector<device::Kernel*> kernels;
  for (const int handle : handles) {
    HONE_ASSIGN(Candidate * candidate, state_->find(handle));
    kernels.push_back(candidate->kernel.get());
  }
  return accuracies_of(*state_->device, kernels, state_->problem.dispatch, state_->problem.seed);
}

Result<int> Runner::find_mistake(const MistakeRequest& request) {
  HONE_TRY(state_->check_ready());
  HONE_ASSIGN(Candidate * candidate, state_->find(request.handle));
  return measure::find_mistake(*state_->device, *candidate->kernel, state_->problem.dispatch,
                               request.suspicions, state_->problem.seed);
}

Result<Outputs> Runner::outputs() const {
  HONE_TRY(state_->check_ready());
  Buffers& buffers = state_->workload->buffers;
  HONE_TRY(buffers.fetch(0));
  Outputs outputs;
  for (std::size_t i = 0; i < buffers.bindings().size(); ++i) {
    if (buffers.bindings()[i].access == problem::Access::kReadOnly) continue;
    const auto bytes = buffers.contents(0, static_cast<int>(i));
    outputs.bindings.push_back(static_cast<int>(i));
    outputs.bytes.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return outputs;
}

Result<MeasureResult> Runner::measure(const MeasureRequest& request) {
  HONE_TRY(state_->check_ready());
  std::vector<Participant> participants;
  std::vector<int> handles = request.handles;
  if (request.sentinel && std::ranges::find(handles, *request.sentinel) == handles.end())
    handles.push_back(*request.sentinel);
  for (const int handle : handles) {
    HONE_ASSIGN(Candidate * candidate, state_->find(handle));
    participants.push_back({handle, candidate->kernel.get(), candidate->workload});
  }
  if (request.other_memory) {
    state_->device->vary_placement(request.seed);
    HONE_TRY(state_->workload->buffers.move_to_other_memory(request.seed));
    for (const auto& workload : state_->library_workloads)
      HONE_TRY(workload->buffers.move_to_other_memory(request.seed));
  }
  const double busy = state_->device->busy_seconds();
  HONE_ASSIGN(MeasureResult result, sample_interleaved(*state_->device, participants, request));
  result.busy_seconds = state_->device->busy_seconds() - busy;
  return result;
}

Result<Calibration> Runner::calibrate(const CalibrationRequest& request) {
  if (request.rounds < 1) return input_error("a calibration takes at least one round");
  if (state_->device && state_->problem.device == request.device)
    return measure::calibrate(*state_->device, request.rounds);
  state_->clear();  // the pool below pins this thread anew
  HONE_ASSIGN(const auto device, state_->open(request.device));
  return measure::calibrate(*device, request.rounds);
}

Result<device::Peak> Runner::peak() {
  HONE_TRY(state_->check_ready());
  return state_->device->measure_peak();
}

bool Runner::has_lost_its_device() const {
  return state_->device && state_->device->is_lost();
}

namespace {

// An environment error of a device says that it cannot judge the code (Kernel::launch).
template <class T>
tl::expected<T, provider::Failure> judged(Result<T> result) {
  return std::move(result).map_error([](const Error& error) {
    using enum provider::FailureKind;
    return provider::Failure{error.kind == ErrorKind::kEnvironment ? kNoVerdict : kLoadError,
                             error.message};
  });
}

tl::expected<int, provider::Failure> judged_load(Runner& runner,
                                                 const provider::Artifact& artifact) {
  return judged(runner.load(artifact));
}

tl::expected<Verification, provider::Failure> judged_verify(Runner& runner, int handle) {
  return judged(runner.verify(handle));
}

}  // namespace

provider::Outcome handle(Runner& runner, Message message) {
  static const provider::ServedJob<Runner> kServed[] = {
      {jobs::kSetProblem, &Runner::set_problem},
      {jobs::kExpectProblem, &Runner::expect_problem},
      {jobs::kLoad, &judged_load},
      {jobs::kBaselines, &Runner::load_baselines},
      {jobs::kVerify, &judged_verify},
      {jobs::kRepeat, &Runner::repeat},
      {jobs::kAccuracies, &Runner::accuracies},
      {jobs::kFindMistake, &Runner::find_mistake},
      {jobs::kOutputs, &Runner::outputs},
      {jobs::kMeasure, &Runner::measure},
      {jobs::kUnload, &Runner::unload},
      {jobs::kCalibrate, &Runner::calibrate},
      {jobs::kPeak, &Runner::peak},
  };
  return provider::answer_by<Runner>(kServed, runner, std::move(message),
                                     provider::FailureKind::kLoadError);
}

void ProblemsAhead::begin(const ProblemRequest& request, OpenDevice open) {
  std::string key = key_of(jobs::kSetProblem.ask(request));
  if (std::ranges::count(begun_, key, &Begun::key) > 0) return;
  if (begun_.size() == kMost) begun_.pop_front();
  // Memory per binding: two operand sets, each as an input or an expected output, and once more
  // while the reference runs. All of it is beside the problem that is measured.
  constexpr std::int64_t kTimes = 4, kShare = 4;
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : request.dispatch.bindings) bytes += binding.bytes;
  std::int64_t all = bytes;
  for (const Begun& each : begun_) all += each.bytes;
  if (kTimes * kShare * all > available_memory()) return;
  begun_.push_back(
      {std::move(key), bytes, std::async(std::launch::async, [request, open = std::move(open)] {
         return prepare_problem(request, open);
       })});
}

std::optional<Result<PreparedProblem>> ProblemsAhead::take(const ProblemRequest& request) {
  const auto found = std::ranges::find(begun_, key_of(jobs::kSetProblem.ask(request)), &Begun::key);
  if (found == begun_.end()) return std::nullopt;
  Result<PreparedProblem> prepared = found->prepared.get();
  begun_.erase(begun_.begin(), std::next(found));
  return prepared;
}

}  // namespace hone::measure
