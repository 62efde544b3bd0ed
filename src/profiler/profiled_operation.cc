#include "profiler/profiled_operation.h"

#include <algorithm>
#include <ranges>

#include "base/file.h"
#include "base/stopwatch.h"
#include "measure/verification.h"
#include "profiler/library_rows.h"
#include "profiler/source_functions.h"
#include "tune/services/records.h"
#include "tune/services/session_steps.h"

namespace hone::profiler {
namespace {

// Counts what a block takes.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += watch_.seconds(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  Stopwatch watch_;
};

// What Verification::reference says when the values follow from the operation's name.
constexpr std::string_view kByName = "name";

// Kernels that share rounds.
constexpr std::size_t kMostTogether = 12;

// Kernels that run on the same buffers: what one of them is given the other can be given too.
bool same_problem(const problem::Dispatch& a, const problem::Dispatch& b) {
  return a.bindings == b.bindings && a.arguments == b.arguments && a.constants == b.constants &&
         a.root == b.root;
}

std::string words_of(const provider::Failure& failure) {
  return fmt::format("{}: {}", provider::name_of(failure.kind), failure.message);
}

// A further run fails the same way, but for accidents.
bool holds(const std::optional<store::Failure>& failure) {
  return failure && tune::still_holds(*failure, {}, false);
}

}  // namespace

ProfiledOperation::ProfiledOperation(tune::Context& context, const ProfileOptions& options,
                                     ProfileSpent& spent, SelectedOperation plan,
                                     worker::JobId& next_job)
    : context_(context),
      options_(options),
      spent_(spent),
      plan_(std::move(plan)),
      next_job_(next_job),
      path_(OperationFiles(options.generated_dir, plan_.operation).source().string()),
      expected_(context, options, spent, plan_.operation) {
  for (const std::string& configuration : plan_.configurations) {
    ProfiledFunction& function = functions_.emplace_back();
    function.row.operation = plan_.operation;
    function.row.configuration = configuration;
    function.row.provider = kCompilersProvider;
  }
}

Status ProfiledOperation::open() {
  HONE_ASSIGN(const std::string file, read_file(path_));
  for (ProfiledFunction& function : functions_) {
    names_.push_back(name_of(function));
    function.source = only_functions(file, {names_.back()});
  }
  text_ = only_functions(file, names_);
  return {};
}

Status ProfiledOperation::begin(std::vector<tune::DispatchToPrepare>& compiles) {
  const device::Place& place = context_.options.place();
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    ProfiledFunction& function = functions_[f];
    if (!function.done) HONE_TRY(record_kernels(function));
    if (!function.done) HONE_TRY(take_known(function));
    function.row.kernels = function.kernels.size();
    for (std::size_t k = 0; !function.done && k < function.kernels.size(); ++k) {
      if (function.kernels[k].kernel.code) continue;
      const problem::Dispatch& dispatch = function.kernels[k].dispatch;
      const worker::JobId job = ++next_job_;
      const Job& added =
          jobs_[job] = {f, k, fmt::format("{}#{}", problem::fingerprint(dispatch), job)};
      compiles.push_back({added.key, dispatch.source, context_.flags(),
                          place.traits.assembles_code ? place.facts.target : "",
                          dispatch.statement});
    }
  }
  return {};
}

Result<std::size_t> ProfiledOperation::submit(std::span<const Status> prepared) {
  const std::size_t added = jobs_.size();
  std::size_t next = 0;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const Status& each = prepared[next++];
    const auto& [id, job] = *at;
    if (each) {
      HONE_TRY(context_.compiler.submit(job.key, id, std::nullopt));
      ++at;
      continue;
    }
    if (each.error().kind != ErrorKind::kFailure) return tl::unexpected(each.error());
    ProfiledFunction& function = functions_[job.function];
    HONE_TRY(fail(function, {provider::FailureKind::kCompileError, each.error().message},
                  &function.kernels[job.kernel]));
    at = jobs_.erase(at);
  }
  return added;
}

std::vector<ProfiledKernel> ProfiledOperation::kernels_in(const problem::Program& program,
                                                          const ProfiledFunction& function) const {
  const std::string prefix = name_of(function) + "_dispatch_";
  std::vector<ProfiledKernel> kernels;
  for (const problem::Dispatch& dispatch : program.dispatches)
    if (dispatch.name.starts_with(prefix)) kernels.push_back({.dispatch = dispatch});
  return kernels;
}

// With others in the module equal kernels of several functions are one dispatch, named for the
// first: unless one kernel is all of it, the function is looked at alone.
void ProfiledOperation::take_kernels(const problem::Program& program) {
  for (ProfiledFunction& function : functions_) {
    function.kernels = kernels_in(program, function);
    const bool is_whole =
        function.kernels.size() == 1 &&
        (is_launched_alone(function) || expected_.holds_all(function.kernels.front().dispatch));
    if (!is_whole && program.functions.size() > 1) function.kernels.clear();
  }
}

std::vector<ProfiledFunction*> ProfiledOperation::unsplit() {
  std::vector<ProfiledFunction*> functions;
  for (ProfiledFunction& function : functions_)
    if (function.kernels.empty() && !function.done) functions.push_back(&function);
  return functions;
}

tune::ProgramToCompile ProfiledOperation::alone(const ProfiledFunction& function) const {
  return {path_, function.source, context_.flags()};
}

Status ProfiledOperation::take_split(ProfiledFunction& function,
                                     const Result<problem::Program>& program) {
  if (program)
    function.kernels = kernels_in(*program, function);
  else if (program.error().kind != ErrorKind::kInput && program.error().kind != ErrorKind::kFailure)
    return tl::unexpected(program.error());
  if (!function.kernels.empty()) return {};
  return fail(function,
              {provider::FailureKind::kCompileError,
               program ? "the compiler makes no kernel of it" : program.error().message},
              nullptr);
}

Status ProfiledOperation::record_kernels(ProfiledFunction& function) {
  for (ProfiledKernel& kernel : function.kernels) {
    HONE_ASSIGN(const store::Id operation,
                context_.store.intern(tune::operation_row(kernel.dispatch.root)));
    HONE_ASSIGN(kernel.id, context_.store.intern(tune::dispatch_row(kernel.dispatch, operation)));
    store::Candidate row;
    row.dispatch = kernel.id;
    row.build = context_.build;
    row.provider = context_.provider.name();
    row.configuration = store::kDefaultConfiguration;
    HONE_ASSIGN(kernel.candidate, context_.store.add_candidate(row));
  }
  return {};
}

Status ProfiledOperation::take_known(ProfiledFunction& function) {
  bool verified = !function.kernels.empty(), measured = verified;
  for (ProfiledKernel& kernel : function.kernels) {
    HONE_ASSIGN(const store::Known known,
                context_.store.known(kernel.candidate, context_.device, store::Phase::kSearch,
                                     context_.options.reuse));
    if (holds(known.failure)) {
      function.row.verified = options_.verify ? Verified::kFailed : Verified::kNot;
      function.row.message = fmt::format("{}: {}", known.failure->kind, known.failure->message);
      function.row.known = function.done = true;
      return {};
    }
    verified = verified && known.verification && known.verification->right &&
               known.verification->rules == measure::kVerificationRules &&
               known.verification->reference == kByName;
    measured = measured && known.measurement;
    if (known.measurement) kernel.timing = known.measurement->timing;
    if (!known.artifact || !known.artifact->has_code) continue;
    const Result<store::Artifact> row =
        context_.store.load_artifact(kernel.candidate, context_.options.trust);
    if (!row) continue;  // somebody else's code: it is compiled here
    HONE_ASSIGN(provider::Artifact artifact, tune::artifact_from(*row));
    kernel.identity = row->identity;
    function.row.resources = provider::kernel_resources(artifact);
    kernel.kernel.code = std::move(artifact);
  }
  if (verified && options_.verify) function.row.verified = Verified::kSuccess;
  function.done = (verified || !options_.verify) && (measured || !options_.measure);
  function.row.known = function.done;
  if (!function.done)
    for (ProfiledKernel& kernel : function.kernels) kernel.timing.reset();
  if (function.done && options_.libraries)
    HONE_TRY(take_known_libraries(function.kernels.front().id));
  return {};
}

Result<bool> ProfiledOperation::take(const tune::CompiledCandidate& compiled) {
  const auto found = jobs_.find(compiled.id);
  if (found == jobs_.end()) return false;
  const Job job = found->second;
  jobs_.erase(found);
  HONE_TRY(context_.compiler.release(job.key));
  ProfiledFunction& function = functions_[job.function];
  ProfiledKernel& kernel = function.kernels[job.kernel];
  HONE_TRY(tune::record_compiled(context_.store, kernel.candidate, compiled));
  if (!compiled.artifact) {
    function.row.verified = options_.verify ? Verified::kFailed : Verified::kNot;
    function.row.message = words_of(compiled.artifact.error());
    function.done = true;
    return true;
  }
  kernel.identity = provider::identity(*compiled.artifact);
  kernel.kernel.code = *compiled.artifact;
  if (job.kernel == 0) function.row.resources = provider::kernel_resources(*compiled.artifact);
  return true;
}

Status ProfiledOperation::fail(ProfiledFunction& function, const provider::Failure& failure,
                               const ProfiledKernel* kernel) {
  function.row.verified = options_.verify ? Verified::kFailed : Verified::kNot;
  function.row.message = words_of(failure);
  function.done = true;
  if (kernel == nullptr) return {};
  store::Failure row;
  row.candidate = kernel->candidate;
  if (!kernel->identity.empty()) row.device = context_.device;
  row.identity = kernel->identity;
  row.kind = provider::name_of(failure.kind);
  row.message = failure.message;
  return context_.store.record(row).map([](store::Id) {});
}

Status ProfiledOperation::check_applied() {
  std::vector<ProfiledFunction*> configured;
  std::vector<std::string> stated;
  for (ProfiledFunction& function : functions_) {
    if (function.done) continue;
    const std::string text = lowering_config_of(text_, function.row.configuration);
    if (text.empty()) continue;
    configured.push_back(&function);
    stated.push_back(text);
  }
  if (stated.empty()) return {};
  HONE_ASSIGN(const std::vector<std::string> canonical, context_.compiler.canonical(stated));
  for (std::size_t i = 0; i < configured.size(); ++i) {
    std::vector<ProfiledKernel>& kernels = configured[i]->kernels;
    const bool applied = std::ranges::any_of(kernels, [&](const ProfiledKernel& kernel) {
      return kernel.kernel.code && kernel.kernel.code->configured == canonical[i];
    });
    if (applied) continue;
    const std::string got = kernels.front().kernel.code->configured;
    HONE_TRY(fail(
        *configured[i],
        {provider::FailureKind::kNotApplied, fmt::format("the file says {}, the compiler took {}",
                                                         canonical[i], got.empty() ? "none" : got)},
        &kernels.front()));
  }
  return {};
}

std::string ProfiledOperation::name_of(const ProfiledFunction& function) const {
  return Dispatch{plan_.operation, function.row.configuration}.name();
}

bool ProfiledOperation::is_launched_alone(const ProfiledFunction& function) const {
  return function.kernels.size() == 1 &&
         expected_.arguments_of(function.kernels.front().dispatch).has_value();
}

Status ProfiledOperation::set_problem(const problem::Dispatch& dispatch,
                                      const measure::ProblemRequest& problem) {
  if (problem_ && same_problem(*problem_, dispatch)) return {};
  problem_.reset();
  measure::ProblemRequest request = problem;
  request.dispatch = dispatch;
  request.device = context_.options.place().address;
  request.seed = context_.options.seed;
  HONE_TRY(context_.runner.set_problem(request));
  problem_ = dispatch;
  if (context_.peak) return {};
  // Once in a run: shares of the roofline are of it.
  const Result<device::Peak> peak = context_.runner.peak();
  if (!peak && peak.error().kind != ErrorKind::kFailure) return tl::unexpected(peak.error());
  context_.peak = peak.value_or(device::Peak{});
  return peak ? tune::record_peak(context_) : Status();
}

// A kernel is launched by hone on the expected inputs. Whatever is not one kernel with the
// function's own arguments is called as a whole.
Status ProfiledOperation::verify(ProfiledFunction& function) {
  const Timed timed(spent_.verify);
  ProfiledKernel& first = function.kernels.front();
  measure::Verification verification;
  if (is_launched_alone(function)) {
    HONE_ASSIGN(const measure::ProblemRequest problem, expected_.problem_of(first.dispatch));
    const Status set = set_problem(first.dispatch, problem);
    // It may ask for more memory than the device has.
    if (!set && set.error().kind == ErrorKind::kFailure)
      return fail(function, {provider::FailureKind::kLoadError, set.error().message}, nullptr);
    HONE_TRY(set);
    HONE_ASSIGN(const tune::Ran<measure::Verification> ran,
                tune::Rounds(context_.runner).verify(first.kernel));
    if (!ran) return fail(function, ran.error(), &first);
    // What this launch says stands: the runtime's would not see writes beside the buffers.
    verification = *ran;
  } else {
    HONE_ASSIGN(const tune::CompiledModule module, module_of(function));
    std::string wrong = module ? "" : words_of(module.error());
    if (module) {
      HONE_ASSIGN(wrong, expected_.call(*module, name_of(function)));
    }
    verification.right = wrong.empty();
    verification.message = wrong;
  }
  function.row.verified = verification.right ? Verified::kSuccess : Verified::kFailed;
  function.row.message = verification.message;
  function.done = !verification.right;
  return record_verification(function, verification);
}

Status ProfiledOperation::record_verification(const ProfiledFunction& function,
                                              const measure::Verification& verification) {
  return context_.store.together([&]() -> Status {
    for (const ProfiledKernel& kernel : function.kernels) {
      store::VerificationRow row = tune::verification_row(verification, kernel.dispatch.bindings);
      row.dispatch = kernel.id;
      row.identity = kernel.identity;
      row.device = context_.device;
      row.reference = kByName;
      HONE_TRY(context_.store.record(row));
    }
    return {};
  });
}

Result<tune::CompiledModule> ProfiledOperation::module_of(const ProfiledFunction& function) {
  const auto compiled = [&](const std::string& text) {
    return context_.compiler.compile_program(path_, text, context_.flags());
  };
  if (is_launched_alone(function)) return compiled(function.source);
  if (!module_of_whole_functions_) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < functions_.size(); ++i)
      if (!functions_[i].done && !is_launched_alone(functions_[i])) names.push_back(names_[i]);
    HONE_ASSIGN(const tune::CompiledModule module, compiled(only_functions(text_, names)));
    module_of_whole_functions_ = module.value_or("");
  }
  if (module_of_whole_functions_->empty()) return compiled(function.source);
  return tune::CompiledModule(*module_of_whole_functions_);
}

void ProfiledOperation::expect_ahead() {
  const bool verifies = std::ranges::any_of(functions_, [](const ProfiledFunction& function) {
    return !function.done && function.row.verified == Verified::kNot;
  });
  if (options_.verify && verifies) expected_.compute_ahead();
}

Status ProfiledOperation::finish() {
  problem_.reset();
  HONE_TRY(check_applied());
  if (options_.verify)
    for (ProfiledFunction& function : functions_)
      if (!function.done && function.row.verified == Verified::kNot) HONE_TRY(verify(function));
  if (options_.measure) {
    HONE_TRY(measure_single());
    for (ProfiledFunction& function : functions_)
      if (!function.done && function.kernels.size() > 1) HONE_TRY(measure_parts(function));
  }
  // Nobody needs code and data of an operation whose rows are there.
  expected_.forget();
  module_of_whole_functions_.reset();
  for (ProfiledFunction& function : functions_)
    for (ProfiledKernel& kernel : function.kernels) kernel.kernel = {};
  return {};
}

// Kernels of one problem side by side, so that configurations are compared and not moments.
Status ProfiledOperation::measure_single() {
  std::vector<ProfiledKernel*> waiting;
  for (ProfiledFunction& function : functions_)
    if (!function.done && function.kernels.size() == 1)
      waiting.push_back(&function.kernels.front());
  bool first = true;
  while (!waiting.empty()) {
    std::vector<ProfiledKernel*> together, later;
    for (ProfiledKernel* const each : waiting) {
      const bool fits = together.size() < kMostTogether &&
                        same_problem(waiting.front()->dispatch, each->dispatch);
      (fits ? together : later).push_back(each);
    }
    HONE_ASSIGN(const measure::ProblemRequest problem,
                expected_.problem_of(together.front()->dispatch));
    HONE_TRY(set_problem(together.front()->dispatch, problem));
    HONE_TRY(measure(together));
    if (std::exchange(first, false) && options_.libraries) {
      const Timed timed(spent_.libraries);
      HONE_ASSIGN(library_rows_,
                  measured_libraries(context_, options_, plan_.operation, together.front()->id));
    }
    waiting = std::move(later);
  }
  return {};
}

// Each kernel alone, on data of its own.
Status ProfiledOperation::measure_parts(ProfiledFunction& function) {
  for (ProfiledKernel& kernel : function.kernels) {
    const Status set = set_problem(kernel.dispatch, unverified_problem(kernel.dispatch));
    if (!set && set.error().kind == ErrorKind::kFailure) {
      function.row.message = "not measured: " + set.error().message;
      return {};
    }
    HONE_TRY(set);
    HONE_TRY(measure({&kernel}));
  }
  return {};
}

Status ProfiledOperation::measure(const std::vector<ProfiledKernel*>& kernels) {
  const Timed timed(spent_.measure);
  std::vector<tune::RunnerKernel*> loaded;
  for (ProfiledKernel* const kernel : kernels) loaded.push_back(&kernel->kernel);
  measure::MeasureRequest how;
  how.protocol = profile_protocol(options_.repetitions, context_.options.traits());
  how.seed = context_.options.seed;
  tune::Rounds rounds(context_.runner);
  HONE_ASSIGN(const tune::Ran<measure::MeasureResult> measured,
              rounds.measure(loaded, nullptr, how));
  if (!measured) {
    if (kernels.size() > 1) {
      for (ProfiledKernel* const kernel : kernels) HONE_TRY(measure({kernel}));
      return {};
    }
    for (ProfiledFunction& function : functions_)
      for (const ProfiledKernel& kernel : function.kernels)
        if (&kernel == kernels.front()) return fail(function, measured.error(), &kernel);
    return {};
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const measure::HandleSamples& samples = measured->handles[i];
    const store::Measurement row =
        tune::measurement_row(kernels[i]->id, kernels[i]->identity, context_, samples, *measured);
    HONE_TRY(context_.store.record(row));
    kernels[i]->timing = row.timing;
    HONE_TRY(rounds.unload(kernels[i]->kernel));
  }
  return {};
}

Status ProfiledOperation::take_known_libraries(store::Id dispatch) {
  if (!library_rows_.empty()) return {};
  HONE_ASSIGN(library_rows_, known_libraries(context_, options_, plan_.operation, dispatch));
  return {};
}

std::vector<ProfileRow> ProfiledOperation::rows() const {
  std::vector<ProfileRow> rows;
  for (const ProfiledFunction& function : functions_) {
    rows.push_back(function.row);
    std::vector<double> sums;
    for (const ProfiledKernel& kernel : function.kernels) {
      if (!kernel.timing) {
        sums.clear();
        break;
      }
      const std::vector<double>& samples = kernel.timing->samples;
      if (&kernel == &function.kernels.front()) sums.assign(samples.size(), 0);
      sums.resize(std::min(sums.size(), samples.size()));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += samples[i];
    }
    if (!sums.empty()) rows.back().timing = tune::timing_of(sums);
  }
  rows.insert(rows.end(), library_rows_.begin(), library_rows_.end());
  return rows;
}

}  // namespace hone::profiler
