#include "tune/dispatch/compile_only.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/stopwatch.h"
#include "measure/reference.h"
#include "plan/policy.h"
#include "plan/work_plan.h"
#include "problem/code_target.h"
#include "search/strategy.h"
#include "space/configuration.h"
#include "trial/records.h"
#include "tune/services/session_steps.h"

namespace hone::tune {
namespace {

// Seconds between two looks at the clock.
constexpr double kReportSeconds = 1, kLookSeconds = 0.05;
// Likewise while runners work, so that compile workers do not wait for their next candidate.
constexpr double kPollSeconds = 0.01;

// The problem that candidates are verified by; none, and why the dispatch cannot be verified.
struct VerifiableProblem {
  std::optional<measure::ProblemRequest> request = {};
  std::string why_not = {};
};

class CompileOnly {
 public:
  explicit CompileOnly(const CompileOnlyRequest& request) : request_(request) {}

  // `problem`: to verify candidates by; an empty one with the reason where there is an emulator and
  // the dispatch cannot be verified.
  Result<CompiledDispatch> run(const problem::Dispatch& dispatch, const Share& share,
                               std::optional<VerifiableProblem> problem) {
    result_ = {};
    result_.dispatch = &dispatch;
    share_ = share;
    clock_ = Stopwatch();
    HONE_ASSIGN(const store::Id id, trial::intern_dispatch(request_.store, dispatch));
    // Any seal will do: this code is only read or emulated, never run.
    trial::TrialRunner runner(
        {.compiler = request_.compiler,
         .store = request_.store,
         .device =
             request_.emulator != nullptr ? std::optional(request_.emulator->device) : std::nullopt,
         .reuse = request_.options.reuse,
         .trust = store::Trust::kAnyone,
         .retry_failed = request_.options.retry_failed},
        id, dispatch.bindings,
        {problem::fingerprint(dispatch),
         dispatch.source,
         joined(request_.options.flags, request_.extra_flags),
         {},
         dispatch.statement},
        {.verify = request_.emulator != nullptr, .measure = false, .beside_default = false});
    if (request_.target)
      runner.check_code([this](const provider::Artifact& code) { return check_target(code); });
    HONE_TRY(
        propose(id, std::string(store::kDefaultConfiguration), request_.provider, std::nullopt));
    if (request_.provider.why_no_space(dispatch).empty())
      HONE_TRY(propose_configurations(id, request_.provider));
    for (const provider::Provider* const each : request_.replacing)
      if (each->why_no_space(dispatch).empty()) HONE_TRY(propose_configurations(id, *each));
    std::optional<EmulatedCheck> check;  // its lanes end before the runner of trials does
    if (problem) {
      result_.verdicts.emplace();
      why_not_verified_ = problem->why_not;
      if (problem->request)
        check_ = &check.emplace(*request_.emulator, std::move(*problem->request), runner);
    }
    HONE_TRY(runner.begin(all()));
    HONE_TRY(check_ != nullptr ? compile_and_verify(runner) : compile(runner));
    HONE_TRY(runner.cancel_compiles());
    HONE_TRY(request_.compiler.release(runner.key()));
    for (std::size_t i = 0; i < trials_.size(); ++i) HONE_TRY(take(runner, i));
    note_failures();
    std::ranges::stable_sort(result_.ranked, ranks_before);
    // Equal code is ranked once, by the first of its configurations.
    std::set<std::string> seen;
    std::erase_if(result_.ranked,
                  [&](const CompiledRow& row) { return !seen.insert(row.identity).second; });
    result_.distinct = result_.ranked.size();
    return std::move(result_);
  }

 private:
  Result<std::vector<space::Configuration>> chosen(const space::Space& space) const {
    std::vector<space::Configuration> given;
    for (const std::string& text : request_.options.configurations) {
      HONE_ASSIGN(space::Configuration configuration, space::parse_configuration(space, text));
      given.push_back(std::move(configuration));
    }
    if (!given.empty()) return given;
    HONE_ASSIGN(
        const auto strategy,
        search::make_strategy(request_.options.strategy == "exhaustive" ? "exhaustive" : "random",
                              space, request_.options.seed));
    return strategy->ask(request_.options.candidates.value_or(plan::kCandidatesOfCompileOnly));
  }

  Status propose_configurations(store::Id id, const provider::Provider& provider) {
    const problem::Dispatch& dispatch = *result_.dispatch;
    HONE_ASSIGN(const space::Space stated, provider.space_of(dispatch));
    HONE_ASSIGN(const space::Space space, stated.relax(request_.options.relax));
    result_.space += space.count().value;
    HONE_ASSIGN(const std::vector<space::Configuration> configurations, chosen(space));
    for (const space::Configuration& configuration : configurations) {
      HONE_ASSIGN(provider::Payload payload, provider.payload_of(dispatch, space, configuration));
      const auto shipped = provider.as_shipped(payload);
      HONE_TRY(
          propose(id, space::to_json(space, configuration).dump(), provider, std::move(payload)));
      if (!shipped) continue;
      HONE_TRY(propose(id, shipped->configuration, provider, shipped->payload));
      shipped_forms_.insert(trials_.size() - 1);
    }
    return {};
  }

  Status propose(store::Id id, const std::string& configuration, const provider::Provider& provider,
                 std::optional<provider::Payload> payload) {
    store::CandidateRow& row = rows_.emplace_back();
    row.dispatch = id;
    row.build = request_.build;
    row.provider = provider.name();
    row.configuration = configuration;
    trial::Trial& trial = trials_.emplace_back();
    trial.payload = std::move(payload);
    trial.suspicions = [this, &provider] { return provider.suspicions(*result_.dispatch); };
    HONE_ASSIGN(trial.candidate, request_.store.add_candidate(row));
    return {};
  }

  double seconds_left() const { return share_.seconds - clock_.seconds(); }

  // Compiles until the time is over. The rest stays untried, but at least one trial is always
  // waited for.
  Status compile(trial::TrialRunner& runner) {
    const std::size_t known = trials_.size() - compiling();
    while (compiling() > 0) {
      report();
      const double left = seconds_left();
      if (left <= 0 && trials_.size() - compiling() > known) return {};
      HONE_TRY(runner.finish_compiling(all(), std::clamp(left, kLookSeconds, kReportSeconds)));
    }
    return {};
  }

  // Compiles likewise, and verifies what is compiled meanwhile.
  Status compile_and_verify(trial::TrialRunner& runner) {
    const std::size_t known = trials_.size() - compiling();
    EmulatedCheck::Lock lock = check_->lock();
    check_->queue(reported());
    std::optional<Stopwatch> since_report;
    while (!check_->has_failed() && (compiling() > 0 || check_->is_busy())) {
      if (!since_report || since_report->seconds() >= kReportSeconds) {
        report();
        since_report = Stopwatch();
      }
      if (seconds_left() <= 0 && (compiling() == 0 || trials_.size() - compiling() > known)) break;
      HONE_ASSIGN(const std::size_t finished, runner.wait_for_compiles(0));
      if (finished > 0) {
        HONE_TRY(runner.finish_compiling(all(), 0));
        check_->queue(reported());
      }
      check_->wait(lock, kPollSeconds);
    }
    lock.unlock();
    HONE_TRY(check_->finish());
    result_.verdicts->verified_now = check_->verified();
    return {};
  }

  trial::Trials reported() {
    trial::Trials trials;
    for (std::size_t i = 0; i < trials_.size(); ++i)
      if (!shipped_forms_.contains(i)) trials.push_back(&trials_[i]);
    return trials;
  }

  trial::Trials all() {
    trial::Trials trials;
    for (trial::Trial& each : trials_) trials.push_back(&each);
    return trials;
  }

  std::size_t compiling() const {
    return static_cast<std::size_t>(
        std::ranges::count(trials_, trial::TrialState::kCompiling, &trial::Trial::state));
  }

  Status take(trial::TrialRunner& runner, std::size_t place) {
    const store::CandidateRow& row = rows_[place];
    const trial::Trial& trial = trials_[place];
    if (shipped_forms_.contains(place)) return {};
    if (trial.state == trial::TrialState::kCompiling) {
      ++result_.untried;
      return {};
    }
    ++result_.tried;
    Failures& failures = of_providers_[row.provider];
    ++failures.done;
    const bool has_code = !trial.failure || (result_.verdicts && verdict_of(trial.failure->kind) !=
                                                                     EmulatedVerdict::kNoCode);
    if (has_code) {
      if (row.configuration == store::kDefaultConfiguration) result_.has_default = true;
      if (!is_right(row, trial)) return {};
      HONE_ASSIGN(const provider::Artifact code, runner.artifact(trial.candidate));
      add(row, trial.candidate, code);
      return {};
    }
    ++failures.failed;
    const provider::Failure& failure = *trial.failure;
    if (row.configuration == store::kDefaultConfiguration)
      result_.default_failure = reason_of(failure.message);
    failures.reasons.add(provider::name_of(failure.kind), failure.message);
    result_.failures.add(provider::name_of(failure.kind), failure.message);
    return {};
  }

  // Whether a candidate with code is to be ranked: it is right, as far as candidates are verified.
  bool is_right(const store::CandidateRow& row, const trial::Trial& trial) {
    if (!result_.verdicts) return true;
    EmulatedVerdicts& verdicts = *result_.verdicts;
    if (trial.state == trial::TrialState::kVerified) {
      ++verdicts.right;
      return true;
    }
    ++result_.compiled;
    UnrankedRow unranked{trial.candidate, row.provider, row.configuration, {}, {}};
    if (!trial.failure) {
      unranked.reason = why_not_verified();
      verdicts.not_verified.push_back(std::move(unranked));
      return false;
    }
    unranked.kind = provider::name_of(trial.failure->kind);
    unranked.reason = trial.failure->message;
    const bool is_wrong = verdict_of(trial.failure->kind) == EmulatedVerdict::kWrong;
    if (is_wrong && row.configuration == store::kDefaultConfiguration)
      verdicts.default_is_wrong = unranked.reason;
    (is_wrong ? verdicts.wrong : verdicts.not_verified).push_back(std::move(unranked));
    return false;
  }

  std::string why_not_verified() const {
    if (!why_not_verified_.empty()) return why_not_verified_;
    if (check_ != nullptr && !check_->why_not().empty()) return check_->why_not();
    return "the time was over: raise --budget";
  }

  void note_failures() const {
    const std::string& name = result_.dispatch->name;
    for (const auto& [provider, failures] : of_providers_)
      if (failures.failed == failures.done && !request_.replacing.empty())
        request_.observer.warn(fmt::format("'{}': no candidate of {} compiles: {}", name, provider,
                                           failures.reasons.words()));
    if (result_.untried > 0)
      request_.observer.warn(
          fmt::format("'{}': the time is over; {} of {} candidates remain untried", name,
                      result_.untried, trials_.size()));
  }

  // Rejects code for another GPU, which can end the process that loads it.
  std::optional<provider::Failure> check_target(const provider::Artifact& artifact) const {
    Status meant;
    for (const problem::KernelPart& part : problem::kernels_of(artifact.launch, artifact.code)) {
      if (meant && !problem::check_code_target(part.code, request_.target->compiled_as))
        meant = problem::check_code_target(part.code, request_.target->arch);
    }
    if (meant) return std::nullopt;
    return provider::Failure{provider::FailureKind::kLoadError, meant.error().message};
  }

  void report() const {
    request_.observer.progress(
        {.dispatch = result_.dispatch->name,
         .dispatch_index = share_.index,
         .dispatch_count = share_.count,
         .step = check_ != nullptr ? "compile and verify" : "compile",
         .tried = trials_.size() - compiling(),
         .planned = trials_.size(),
         .failed = static_cast<std::size_t>(
             std::ranges::count(trials_, trial::TrialState::kFailed, &trial::Trial::state)),
         .seconds_left = std::max(0.0, seconds_left()) + std::max(0.0, share_.after)});
  }

  void add(const store::CandidateRow& compiled, store::Id candidate,
           const provider::Artifact& artifact) {
    CompiledRow row{.candidate = candidate,
                    .provider = compiled.provider,
                    .configuration = compiled.configuration,
                    .configured = artifact.configured,
                    .identity = provider::identity(artifact),
                    .launch = artifact.launch,
                    .resources = {},
                    .occupancy = 0};
    if (!request_.target) {
      ++result_.compiled;
      result_.ranked.push_back(std::move(row));
      return;
    }
    const problem::GpuTarget& target = *request_.target;
    if (const auto read = provider::kernel_resources(artifact)) row.resources = *read;
    row.resources.shared_bytes += artifact.launch.shared_bytes;
    if (row.resources.subgroup_size == 0)
      row.resources.subgroup_size = target.subgroup_sizes.front();
    const auto& block = artifact.launch.block;
    row.occupancy = problem::occupancy(
        target, {static_cast<int>(block[0] * block[1] * block[2]), row.resources.subgroup_size,
                 row.resources.registers, row.resources.shared_bytes});
    if (const std::int64_t most = target.workgroup_memory_bytes;
        most > 0 && row.resources.shared_bytes > most) {
      result_.failures.add(
          provider::name_of(provider::FailureKind::kLoadError),
          fmt::format("shared memory {} B, limit {} B", row.resources.shared_bytes, most));
      return;
    }
    ++result_.compiled;
    result_.ranked.push_back(std::move(row));
  }

  const CompileOnlyRequest& request_;
  Share share_;
  Stopwatch clock_;
  std::vector<store::CandidateRow> rows_;
  std::vector<trial::Trial> trials_;     // of each row
  std::set<std::size_t> shipped_forms_;  // places of trials that are not reported
  struct Failures {
    std::size_t done = 0, failed = 0;
    CommonReason reasons;
  };
  std::map<std::string, Failures> of_providers_;
  std::string why_not_verified_;
  EmulatedCheck* check_ = nullptr;  // none: nothing is verified
  CompiledDispatch result_;
};

// The dispatch that the reference is compiled from, and its row.
struct ReferenceCode {
  std::string fingerprint;  // empty: hone computes the reference, or there is none to compile
  std::optional<provider::Artifact> code;  // where it was asked for
  std::string why_not = {};                // it does not compile
};

// Compiles the code of a dispatch's reference into the store. `is_run`: here too.
Result<ReferenceCode> compile_reference(const CompileOnlyRequest& request,
                                        const problem::Dispatch& dispatch,
                                        const problem::Dispatch* reference, bool is_run) {
  if (measure::has_exact_reference(dispatch)) return ReferenceCode();
  if (reference == nullptr || reference->source == dispatch.source)
    return ReferenceCode{request.target ? std::string() : problem::fingerprint(dispatch), {}};
  store::CandidateRow row;
  HONE_ASSIGN(row.dispatch, trial::intern_dispatch(request.store, *reference));
  HONE_ASSIGN(row.build, request.store.intern(request.prepared.reference_build.row()));
  row.provider = request.provider.name();
  row.configuration = store::kDefaultConfiguration;
  HONE_ASSIGN(const store::Id candidate, request.store.add_candidate(row));
  ReferenceCode result{problem::fingerprint(*reference), {}};
  if (is_run) {
    // Code of somebody else is compiled again: it runs on this machine.
    HONE_ASSIGN(result.code, stored_default(request.store, result.fingerprint, row.build,
                                            row.provider, request.options.trust));
    if (result.code) return result;
  } else {
    HONE_ASSIGN(const store::KnownResults known, request.store.known(candidate, std::nullopt));
    if (known.artifact && known.artifact->has_code) return result;
  }
  HONE_ASSIGN(const std::vector<trial::CompiledCandidate> compiled,
              request.compiler.compile_alone({result.fingerprint + "#reference", reference->source,
                                              request.options.reference_flags},
                                             {std::nullopt}));
  const auto& artifact = compiled.front().artifact;
  if (!artifact) {
    request.observer.warn(fmt::format("the reference of '{}' does not compile: {}", dispatch.name,
                                      artifact.error().message));
    return ReferenceCode{{}, {}, "its reference does not compile: " + artifact.error().message};
  }
  HONE_TRY(
      request.store.record(trial::artifact_row(candidate, *artifact, compiled.front().seconds)));
  result.code = *artifact;
  return result;
}

// The problem that the emulator verifies candidates by.
VerifiableProblem verifiable_problem(const CompileOnlyRequest& request,
                                     const problem::Dispatch& dispatch,
                                     const Result<ReferenceCode>& of_reference) {
  if (!of_reference) return {{}, of_reference.error().message};
  if (!of_reference->code && !measure::has_exact_reference(dispatch))
    return {{},
            of_reference->why_not.empty() ? "compiled for a CPU the program has no such dispatch"
                                          : of_reference->why_not};
  measure::ProblemRequest problem;
  problem.dispatch = dispatch;
  problem.seed = request.options.seed;
  problem.reference = of_reference->code;
  return {std::move(problem)};
}

bool is_all_wrong(const CompiledDispatch& dispatch) {
  return dispatch.verdicts && dispatch.compiled > 0 &&
         dispatch.verdicts->wrong.size() == dispatch.compiled;
}

// Logs what is prepared.
Status finish(const CompileOnlyRequest& request, const CompiledProgram& compiled) {
  PreparedWork prepared = request.prepared;
  prepared.program = compiled.program.hash;
  prepared.path = compiled.program.path;
  for (const CompiledDispatch& each : compiled.dispatches)
    if (each.has_default)
      prepared.dispatches.push_back({problem::fingerprint(*each.dispatch), each.reference});
  return keep_prepared(request.store, prepared);
}

}  // namespace

Result<CompiledDispatch> compile_ahead(const CompileOnlyRequest& request,
                                       const problem::Dispatch& dispatch,
                                       const problem::Dispatch* reference, const Share& share) {
  const Stopwatch watch;
  Result<ReferenceCode> of_reference;
  std::optional<VerifiableProblem> problem;
  if (request.emulator != nullptr) {
    of_reference = compile_reference(request, dispatch, reference, /*is_run=*/true);
    HONE_TRY(all_but_failure(of_reference));
    problem = verifiable_problem(request, dispatch, of_reference);
  }
  Share left = share;
  left.seconds -= watch.seconds();
  HONE_ASSIGN(CompiledDispatch compiled,
              CompileOnly(request).run(dispatch, left, std::move(problem)));
  compiled.seconds = watch.seconds();
  // Candidates are compared with the default: without it nothing can be measured.
  if (!compiled.has_default) return compiled;
  if (request.emulator == nullptr) {
    of_reference = compile_reference(request, dispatch, reference, /*is_run=*/false);
    HONE_TRY(all_but_failure(of_reference));
  }
  if (of_reference) compiled.reference = of_reference->fingerprint;
  return compiled;
}

RunVerdict verdict_of(const CompiledProgram& compiled) {
  std::vector<const CompiledDispatch*> without_code;
  for (const CompiledDispatch& each : compiled.dispatches)
    if (each.compiled == 0 || is_all_wrong(each)) without_code.push_back(&each);
  if (compiled.dispatches.empty()) return {RunOutcome::kNothingUsable, "no dispatch was compiled"};
  const bool is_list = compiled.program.functions.empty();
  if (without_code.empty() || (is_list && without_code.size() < compiled.dispatches.size()))
    return {RunOutcome::kCompiled, ""};
  const CompiledDispatch& first = *without_code.front();
  const std::string names =
      without_code.size() > 1
          ? fmt::format("{} and {} more", first.dispatch->name, without_code.size() - 1)
          : first.dispatch->name;
  if (is_all_wrong(first))
    return {RunOutcome::kNothingUsable, fmt::format("every candidate of {} is wrong: {}", names,
                                                    first.verdicts->wrong.front().reason)};
  const std::string reason =
      first.default_failure.empty() ? first.failures.words() : first.default_failure;
  if (first.untried > 0)
    return {RunOutcome::kNothingUsable,
            fmt::format("no code of {} by the end of the budget, {} of {} candidates untried: {}",
                        names, first.untried, first.tried + first.untried, reason)};
  return {RunOutcome::kNothingUsable,
          fmt::format("the compiler makes no code of {}: {}", names, reason)};
}

bool ranks_before(const CompiledRow& a, const CompiledRow& b) {
  const auto order = [](const CompiledRow& row) {
    return std::tuple(row.occupancy == 0, row.resources.spills, row.resources.private_bytes,
                      -row.occupancy, row.resources.shared_bytes, row.candidate);
  };
  return order(a) < order(b);
}

Result<CompiledProgram> compile_only(const CompileOnlyRequest& request, problem::Program program,
                                     store::Run run_row) {
  const Options& options = request.options;
  store::Store& store = request.store;
  CompiledProgram result{.program = std::move(program),
                         .dispatches = {},
                         .not_tuned = {},
                         .is_ranked = request.target.has_value()};
  HONE_ASSIGN(const auto chosen,
              select_dispatches(result.program, options.dispatches, result.not_tuned));
  HONE_ASSIGN(run_row.program,
              store.intern(store::ProgramRow{0, result.program.hash, options.input, "{}"}));
  HONE_TRY(store.begin_run(run_row));
  note_kernels_without_use(request.replacing, chosen, request.observer);
  Status status;
  const Stopwatch watch;
  plan::WorkPlan plan(/*everything=*/true);
  for (const problem::Dispatch* const dispatch : chosen) plan.add({dispatch->name});
  while (const auto place = plan.next()) {
    const double left = options.budget_seconds - watch.seconds();
    const double seconds = plan.seconds_for(*place, left);
    const Share share{plan.count(plan::State::kFinished), chosen.size(), seconds, left - seconds};
    const problem::Dispatch& dispatch = *chosen[*place];
    auto compiled =
        compile_ahead(request, dispatch, find_reference(request.references, dispatch), share);
    if (!compiled) {
      status = tl::unexpected(std::move(compiled).error());
      break;
    }
    plan.finish(*place);
    result.dispatches.push_back(std::move(*compiled));
  }
  if (status) status = finish(request, result);
  HONE_TRY(store.end_run(state_after(status)));
  HONE_TRY(status);
  return result;
}

}  // namespace hone::tune
