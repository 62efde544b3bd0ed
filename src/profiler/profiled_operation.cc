#include "profiler/profiled_operation.h"

#include <algorithm>

#include "base/file.h"
#include "base/stopwatch.h"
#include "measure/verification.h"
#include "profiler/library_rows.h"
#include "profiler/tree.h"
#include "trial/records.h"
#include "tune/services/session_steps.h"

namespace hone::profiler {
namespace {

// Adds the duration of a block to `seconds`.
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

// Verification::reference of expected values that follow from the operation's name.
constexpr std::string_view kByName = "name";

// Largest number of kernels that share rounds.
constexpr std::size_t kMostTogether = 12;

// Returns whether two kernels run on the same buffers, so that both can be given the same data.
bool same_problem(const problem::Dispatch& a, const problem::Dispatch& b) {
  return a.bindings == b.bindings && a.arguments == b.arguments && a.constants == b.constants &&
         a.root == b.root;
}

std::string words_of(const provider::Failure& failure) {
  return fmt::format("{}: {}", provider::name_of(failure.kind), failure.message);
}

}  // namespace

ProfiledOperation::ProfiledOperation(tune::Context& context, const ProfileOptions& options,
                                     ProfileSpent& spent, SelectedOperation plan,
                                     std::size_t& servers)
    : context_(context),
      options_(options),
      spent_(spent),
      plan_(std::move(plan)),
      servers_(servers),
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

Status ProfiledOperation::begin(std::vector<trial::DispatchToPrepare>& compiles) {
  for (ProfiledFunction& function : functions_) {
    if (!function.done) HONE_TRY(make_trials(function));
    if (!function.done) HONE_TRY(take_known(function));
    function.row.kernels = function.kernels.size();
    if (function.done) continue;
    for (ProfiledKernel& kernel : function.kernels) {
      if (kernel.kernel.code) continue;
      compiling_.push_back({&function, &kernel});
      compiles.push_back(kernel.runner->take_server());
    }
  }
  return {};
}

Result<std::size_t> ProfiledOperation::submit(std::span<const Status> prepared) {
  const std::vector<Compiling> added = std::exchange(compiling_, {});
  for (std::size_t i = 0; i < added.size(); ++i) {
    const auto& [function, kernel] = added[i];
    HONE_TRY(all_but_failure(prepared[i]));
    if (!prepared[i]) {
      HONE_TRY(fail(*function, {provider::FailureKind::kCompileError, prepared[i].error().message},
                    kernel));
      continue;
    }
    HONE_TRY(kernel->runner->begin({&kernel->trial}));
    compiling_.push_back(added[i]);
  }
  return added.size();
}

std::vector<ProfiledKernel> ProfiledOperation::kernels_in(const problem::Program& program,
                                                          const ProfiledFunction& function) const {
  const std::string prefix = name_of(function) + "_dispatch_";
  std::vector<ProfiledKernel> kernels;
  for (const problem::Dispatch& dispatch : program.dispatches)
    if (dispatch.name.starts_with(prefix)) kernels.emplace_back().dispatch = dispatch;
  return kernels;
}

// Takes the functions' kernels from the program. The compiler merges equal kernels of several
// functions into one dispatch, named for the first. A function that is not a single kernel is
// therefore split alone.
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

trial::ProgramToCompile ProfiledOperation::alone(const ProfiledFunction& function) const {
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

Status ProfiledOperation::make_trials(ProfiledFunction& function) {
  const device::Place& place = context_.options.place();
  trial::Services services = context_.trial_services();
  services.leases = nullptr;  // a profile shares no work
  services.time = nullptr;
  for (ProfiledKernel& kernel : function.kernels) {
    const problem::Dispatch& dispatch = kernel.dispatch;
    store::CandidateRow row;
    HONE_ASSIGN(row.dispatch, trial::intern_dispatch(context_.store, dispatch));
    row.build = context_.baseline.build;
    row.provider = context_.provider.name();
    row.configuration = store::kDefaultConfiguration;
    HONE_ASSIGN(kernel.trial.candidate, context_.store.add_candidate(row));
    kernel.runner.emplace(
        services, row.dispatch, dispatch.bindings,
        trial::DispatchToPrepare{fmt::format("{}#{}", problem::fingerprint(dispatch), ++servers_),
                                 dispatch.source, context_.flags(),
                                 place.traits.assembles_code ? place.facts.target : "",
                                 dispatch.statement},
        trial::Steps{
            .verify = options_.verify, .measure = options_.measure, .beside_default = false});
    kernel.runner->verify_by(kByName, /*only=*/true);
  }
  return {};
}

Status ProfiledOperation::take_known(ProfiledFunction& function) {
  bool verified = options_.verify && !function.kernels.empty();
  bool measured = options_.measure && !function.kernels.empty();
  for (ProfiledKernel& kernel : function.kernels) {
    HONE_TRY(kernel.runner->recall(kernel.trial));
    const trial::TrialState state = kernel.trial.state;
    if (state == trial::TrialState::kFailed) {
      function.row.known = true;
      take_failure(function, *kernel.trial.failure);
      return {};
    }
    measured = measured && state == trial::TrialState::kMeasured;
    verified = verified &&
               (state == trial::TrialState::kMeasured || state == trial::TrialState::kVerified);
    if (kernel.trial.identity.empty()) continue;
    Result<provider::Artifact> code = kernel.runner->artifact(kernel.trial.candidate);
    if (!code) continue;  // somebody else's: it is compiled here
    function.row.resources = provider::kernel_resources(*code);
    kernel.kernel.code = std::move(*code);
  }
  if (verified) function.row.verified = Verified::kSuccess;
  function.done = verified == options_.verify && measured == options_.measure;
  function.row.known = function.done;
  if (!function.done)
    for (ProfiledKernel& kernel : function.kernels) kernel.trial.timing.reset();
  if (function.done && options_.libraries && library_rows_.empty()) {
    HONE_ASSIGN(library_rows_, known_libraries(context_, options_, plan_.operation,
                                               function.kernels.front().runner->dispatch()));
  }
  return {};
}

Result<bool> ProfiledOperation::take(const trial::CompiledCandidate& compiled) {
  for (auto at = compiling_.begin(); at != compiling_.end(); ++at) {
    const auto [function, kernel] = *at;
    HONE_ASSIGN(const bool is_its, kernel->runner->take_compiled(compiled));
    if (!is_its) continue;
    compiling_.erase(at);
    HONE_TRY(context_.compiler.release(kernel->runner->key()));
    HONE_TRY(kernel->runner->finish_compiling({&kernel->trial}, 0));
    if (kernel->trial.failure) {
      take_failure(*function, *kernel->trial.failure);
      return true;
    }
    kernel->kernel.code = *compiled.artifact;
    if (kernel == &function->kernels.front())
      function->row.resources = provider::kernel_resources(*compiled.artifact);
    return true;
  }
  return false;
}

Status ProfiledOperation::fail(ProfiledFunction& function, const provider::Failure& failure,
                               ProfiledKernel* kernel) {
  take_failure(function, failure);
  return kernel == nullptr ? Status() : kernel->runner->fail(kernel->trial, failure);
}

void ProfiledOperation::take_failure(ProfiledFunction& function, const provider::Failure& failure) {
  const bool is_wrong = failure.kind == provider::FailureKind::kWrong;
  function.row.verified = options_.verify ? Verified::kFailed : Verified::kNot;
  function.row.message = is_wrong ? failure.message : words_of(failure);
  function.done = true;
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
  HONE_ASSIGN(const std::vector<std::string> canonical,
              context_.compiler.ask(provider::jobs::kCanonical, stated));
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
  return NamedDispatch{plan_.operation, function.row.configuration}.name();
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
  if (context_.state->peak) return {};
  // Measure the peak once in a run, for shares of the roofline.
  const Result<device::Peak> peak = context_.runner.peak();
  HONE_TRY(all_but_failure(peak));
  context_.state->peak = peak.value_or(device::Peak{});
  return peak ? tune::record_peak(context_) : Status();
}

// Verifies the function. A single kernel with the function's own arguments is launched by hone on
// the expected inputs; any other function is called as a whole.
Status ProfiledOperation::verify(ProfiledFunction& function) {
  const Timed timed(spent_.verify);
  ProfiledKernel& first = function.kernels.front();
  measure::Verification verification;
  if (is_launched_alone(function)) {
    HONE_ASSIGN(const measure::ProblemRequest problem, expected_.problem_of(first.dispatch));
    const Status set = set_problem(first.dispatch, problem);
    // The problem may need more memory than the device has.
    if (!set && set.error().kind == ErrorKind::kFailure)
      return fail(function, {provider::FailureKind::kLoadError, set.error().message}, nullptr);
    HONE_TRY(set);
    HONE_ASSIGN(const trial::KernelResult<measure::Verification> ran,
                trial::KernelRunner(context_.runner).verify(first.kernel));
    if (!ran) return fail(function, ran.error(), &first);
    // Keep this result without a call under the runtime, which would miss writes beside the
    // buffers.
    verification = *ran;
  } else {
    HONE_ASSIGN(const trial::CompiledModule module, module_of(function));
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
  return context_.store.transaction([&]() -> Status {
    for (ProfiledKernel& kernel : function.kernels)
      HONE_TRY(kernel.runner->record_verification(kernel.trial.identity, verification));
    return {};
  });
}

Result<trial::CompiledModule> ProfiledOperation::module_of(const ProfiledFunction& function) {
  const auto compiled = [&](const std::string& text) {
    return context_.compiler.compile_program({path_, text, context_.flags()});
  };
  if (is_launched_alone(function)) return compiled(function.source);
  if (!module_of_whole_functions_) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < functions_.size(); ++i)
      if (!functions_[i].done && !is_launched_alone(functions_[i])) names.push_back(names_[i]);
    HONE_ASSIGN(const trial::CompiledModule module, compiled(only_functions(text_, names)));
    module_of_whole_functions_ = module.value_or("");
  }
  if (module_of_whole_functions_->empty()) return compiled(function.source);
  return trial::CompiledModule(*module_of_whole_functions_);
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
  // Free code and data: the operation's rows are complete.
  expected_.forget();
  module_of_whole_functions_.reset();
  for (ProfiledFunction& function : functions_)
    for (ProfiledKernel& kernel : function.kernels) kernel.kernel = {};
  return {};
}

// Measures kernels of one problem in shared rounds, so that configurations are compared and not
// moments.
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
      HONE_ASSIGN(library_rows_, measured_libraries(context_, options_, plan_.operation,
                                                    together.front()->runner->dispatch()));
    }
    waiting = std::move(later);
  }
  return {};
}

// Measures each kernel alone, on its own data.
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

Status ProfiledOperation::measure(std::vector<ProfiledKernel*> kernels) {
  const Timed timed(spent_.measure);
  trial::KernelRunner runner(context_.runner);
  while (!kernels.empty()) {
    trial::RoundsRequest request;
    for (ProfiledKernel* const kernel : kernels) request.kernels.push_back(&kernel->kernel);
    request.reload = true;
    request.how.protocol = profile_protocol(options_.repetitions, context_.options.traits());
    request.how.seed = context_.options.seed;
    request.next = trial::fixed_rounds(1, kernels.size());
    request.take = [&](const trial::Columns& columns,
                       const measure::MeasureResult& measured) -> Result<bool> {
      for (const std::size_t i : columns) {
        const measure::HandleSamples& samples = measured.handles[i];
        trial::Trial& trial = kernels[i]->trial;
        HONE_TRY(kernels[i]->runner->record_samples(trial.identity, samples, store::Phase::kSearch,
                                                    {}, measured));
        trial.timing =
            trial::timing_of(samples.seconds, samples.launches_per_sample, samples.disturbed);
        trial.state = trial::TrialState::kMeasured;
      }
      return true;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner, std::move(request)));
    if (!failed) return {};
    if (!failed->column) {  // each has a round of its own
      for (ProfiledKernel* const kernel : kernels) HONE_TRY(measure({kernel}));
      return {};
    }
    const auto to_blame = kernels.begin() + static_cast<std::ptrdiff_t>(*failed->column);
    for (ProfiledFunction& function : functions_)
      for (ProfiledKernel& kernel : function.kernels)
        if (&kernel == *to_blame) HONE_TRY(fail(function, failed->failure, &kernel));
    kernels.erase(to_blame);
  }
  return {};
}

std::vector<ProfileRow> ProfiledOperation::rows() const {
  std::vector<ProfileRow> rows;
  for (const ProfiledFunction& function : functions_) {
    rows.push_back(function.row);
    std::vector<double> sums;
    for (const ProfiledKernel& kernel : function.kernels) {
      if (!kernel.trial.timing) {
        sums.clear();
        break;
      }
      const std::vector<double>& samples = kernel.trial.timing->samples;
      if (&kernel == &function.kernels.front()) sums.assign(samples.size(), 0);
      sums.resize(std::min(sums.size(), samples.size()));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += samples[i];
    }
    if (!sums.empty()) rows.back().timing = trial::timing_of(sums);
  }
  rows.insert(rows.end(), library_rows_.begin(), library_rows_.end());
  return rows;
}

}  // namespace hone::profiler
