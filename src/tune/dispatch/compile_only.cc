#include "tune/dispatch/compile_only.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/stopwatch.h"
#include "plan/work_plan.h"
#include "problem/code_target.h"
#include "search/strategy.h"
#include "space/configuration.h"
#include "tune/services/records.h"

namespace hone::tune {
namespace {

constexpr std::size_t kCandidates = 200;
// Between two looks at the clock.
constexpr double kReportSeconds = 1, kLookSeconds = 0.05;

class CompileOnly {
 public:
  CompileOnly(CompileService& compiler, const provider::Provider& provider,
              const std::vector<const provider::Provider*>& replacing, store::Store& store,
              const Options& options, const problem::GpuTarget& target, store::Id build,
              Observer& observer)
      : compiler_(compiler),
        provider_(provider),
        replacing_(replacing),
        store_(store),
        options_(options),
        target_(target),
        build_(build),
        observer_(observer) {}

  Result<CompiledDispatch> run(const problem::Dispatch& dispatch, const Share& share) {
    result_ = {};
    result_.dispatch = &dispatch;
    share_ = share;
    clock_ = Stopwatch();
    HONE_ASSIGN(const store::Id operation, store_.intern(operation_row(dispatch.root)));
    HONE_ASSIGN(dispatch_, store_.intern(dispatch_row(dispatch, operation)));
    key_ = problem::fingerprint(dispatch);
    HONE_TRY(compiler_.prepare({key_, dispatch.source, options_.flags, {}, dispatch.statement}));
    Status status = submit_default();
    if (status) status = submit_configurations(dispatch, provider_);
    for (const provider::Provider* const each : replacing_)
      if (status && each->why_no_space(dispatch).empty())
        status = submit_configurations(dispatch, *each);
    if (status) status = collect();
    HONE_TRY(compiler_.cancel_all());
    HONE_TRY(compiler_.release(key_));
    if (!status) return tl::unexpected(std::move(status).error());
    std::stable_sort(result_.ranked.begin(), result_.ranked.end(), ranks_before);
    // Equal code is ranked once, by the first of its configurations.
    std::set<std::string> seen;
    std::erase_if(result_.ranked,
                  [&](const CompiledRow& row) { return !seen.insert(row.identity).second; });
    result_.distinct = result_.ranked.size();
    return std::move(result_);
  }

 private:
  Status submit_default() {
    return submit(std::string(store::kDefaultConfiguration), provider_, std::nullopt);
  }

  Result<std::vector<space::Configuration>> chosen(const space::Space& space) const {
    std::vector<space::Configuration> given;
    for (const std::string& text : options_.configurations) {
      HONE_ASSIGN(space::Configuration configuration, space::parse_configuration(space, text));
      given.push_back(std::move(configuration));
    }
    if (!given.empty()) return given;
    HONE_ASSIGN(const auto strategy,
                search::make_strategy(options_.strategy == "exhaustive" ? "exhaustive" : "random",
                                      space, options_.seed));
    return strategy->ask(options_.candidates.value_or(kCandidates));
  }

  Status submit_configurations(const problem::Dispatch& dispatch,
                               const provider::Provider& provider) {
    HONE_ASSIGN(const space::Space stated, provider.space_of(dispatch));
    HONE_ASSIGN(const space::Space space, stated.relax(options_.relax));
    result_.space += space.count().value;
    HONE_ASSIGN(const std::vector<space::Configuration> configurations, chosen(space));
    for (const space::Configuration& configuration : configurations) {
      HONE_ASSIGN(provider::Payload payload, provider.payload_of(dispatch, space, configuration));
      HONE_TRY(submit(space::to_json(space, configuration).dump(), provider, std::move(payload)));
    }
    return {};
  }

  Status submit(const std::string& configuration, const provider::Provider& provider,
                std::optional<provider::Payload> payload) {
    store::Candidate row;
    row.dispatch = dispatch_;
    row.build = build_;
    row.provider = provider.name();
    row.configuration = configuration;
    HONE_ASSIGN(const store::Id candidate, store_.add_candidate(row));
    ++result_.tried;
    HONE_ASSIGN(const store::Known known, store_.known(candidate, std::nullopt));
    if (known.failure && still_holds(*known.failure, store_.current_run(), options_.retry_failed)) {
      result_.failures.add(known.failure->kind, known.failure->message);
      note_default(row, known.failure->message);
      return {};
    }
    if (known.artifact && known.artifact->has_code) {
      // It is read and never run, whoever made it.
      HONE_ASSIGN(const store::Artifact stored,
                  store_.load_artifact(candidate, store::Trust::kAnyone));
      HONE_ASSIGN(const provider::Artifact artifact, artifact_from(stored));
      add(row, candidate, artifact);
      return {};
    }
    waiting_.push_back({candidate, row});
    return compiler_.submit(key_, waiting_.size() - 1, payload);
  }

  void note_default(const store::Candidate& failed, std::string_view message) {
    if (failed.configuration == store::kDefaultConfiguration)
      result_.default_failure = reason_of(message);
  }

  double seconds_left() const { return share_.seconds - clock_.seconds(); }

  // What is not compiled when the time is over remains untried, but for the first.
  Status collect() {
    struct Failures {
      std::size_t done = 0, failed = 0;
      CommonReason reasons;
    };
    std::map<std::string, Failures> of_providers;
    std::size_t done = 0, failed = 0;
    const std::size_t known = result_.tried - waiting_.size();
    while (done < waiting_.size()) {
      report(known + done, failed);
      const double left = seconds_left();
      if (left <= 0 && done > 0) break;
      HONE_ASSIGN(std::optional<CompiledCandidate> finished,
                  compiler_.next_finished(std::clamp(left, kLookSeconds, kReportSeconds)));
      if (!finished) continue;
      ++done;
      check_target(*finished);
      const auto& [candidate, row] = waiting_[finished->id];
      HONE_TRY(record_compiled(store_, candidate, *finished));
      Failures& failures = of_providers[row.provider];
      ++failures.done;
      if (finished->artifact) {
        add(row, candidate, *finished->artifact);
        continue;
      }
      ++failed;
      ++failures.failed;
      const provider::Failure& failure = finished->artifact.error();
      note_default(row, failure.message);
      failures.reasons.add(provider::name_of(failure.kind), failure.message);
      result_.failures.add(provider::name_of(failure.kind), failure.message);
    }
    for (const auto& [provider, failures] : of_providers)
      if (failures.failed == failures.done && !replacing_.empty())
        observer_.note(fmt::format("'{}': no candidate of {} compiles: {}", result_.dispatch->name,
                                   provider, failures.reasons.words()));
    if (done < waiting_.size())
      observer_.note(fmt::format("'{}': the time is over; {} of {} candidates remain untried",
                                 result_.dispatch->name, waiting_.size() - done, result_.tried));
    result_.untried = waiting_.size() - done;
    result_.tried = known + done;
    return {};
  }

  // Code for another GPU can end the process that loads it there.
  void check_target(CompiledCandidate& candidate) const {
    if (!candidate.artifact) return;
    const provider::Artifact& artifact = *candidate.artifact;
    Status meant;
    for (const problem::KernelPart& part : problem::kernels_of(artifact.launch, artifact.code)) {
      if (meant && !problem::check_code_target(part.code, target_.compiled_as))
        meant = problem::check_code_target(part.code, target_.arch);
    }
    if (!meant)
      candidate.artifact = tl::unexpected(
          provider::Failure{provider::FailureKind::kLoadError, meant.error().message});
  }

  void report(std::size_t tried, std::size_t failed) const {
    Progress progress;
    progress.dispatch = result_.dispatch->name;
    progress.dispatch_index = share_.index;
    progress.dispatch_count = share_.count;
    progress.step = "compile";
    progress.tried = tried;
    progress.planned = result_.tried;
    progress.failed = failed;
    progress.seconds_left = std::max(0.0, seconds_left()) + std::max(0.0, share_.after);
    observer_.progress(progress);
  }

  void add(const store::Candidate& compiled, store::Id candidate,
           const provider::Artifact& artifact) {
    CompiledRow row{.candidate = candidate,
                    .provider = compiled.provider,
                    .configuration = compiled.configuration,
                    .configured = artifact.configured,
                    .identity = provider::identity(artifact),
                    .launch = artifact.launch,
                    .resources = {},
                    .occupancy = 0};
    if (const auto read = provider::kernel_resources(artifact)) row.resources = *read;
    row.resources.shared_bytes += artifact.launch.shared_bytes;
    if (row.resources.subgroup_size == 0)
      row.resources.subgroup_size = target_.subgroup_sizes.front();
    const auto& block = artifact.launch.block;
    row.occupancy = problem::occupancy(
        target_, {static_cast<int>(block[0] * block[1] * block[2]), row.resources.subgroup_size,
                  row.resources.registers, row.resources.shared_bytes});
    if (const std::int64_t most = target_.workgroup_memory_bytes;
        most > 0 && row.resources.shared_bytes > most) {
      result_.failures.add(
          provider::name_of(provider::FailureKind::kLoadError),
          fmt::format("shared memory {} B, limit {} B", row.resources.shared_bytes, most));
      return;
    }
    ++result_.compiled;
    result_.ranked.push_back(std::move(row));
  }

  CompileService& compiler_;
  const provider::Provider& provider_;
  const std::vector<const provider::Provider*>& replacing_;
  store::Store& store_;
  const Options& options_;
  const problem::GpuTarget& target_;
  store::Id build_;
  Observer& observer_;
  Share share_;
  Stopwatch clock_;
  store::Id dispatch_ = 0;
  std::string key_;
  std::vector<std::pair<store::Id, store::Candidate>> waiting_;  // by job
  CompiledDispatch result_;
};

}  // namespace

RunVerdict verdict_of(const CompiledProgram& compiled) {
  std::vector<const CompiledDispatch*> without_code;
  for (const CompiledDispatch& each : compiled.dispatches)
    if (each.compiled == 0) without_code.push_back(&each);
  if (compiled.dispatches.empty()) return {RunOutcome::kNothingUsable, "no dispatch was compiled"};
  const bool is_list = compiled.program.functions.empty();
  if (without_code.empty() || (is_list && without_code.size() < compiled.dispatches.size()))
    return {RunOutcome::kCompiled, ""};
  const CompiledDispatch& first = *without_code.front();
  const std::string names =
      without_code.size() > 1
          ? fmt::format("{} and {} more", first.dispatch->name, without_code.size() - 1)
          : first.dispatch->name;
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

Result<CompiledProgram> compile_only(CompileService& compiler, const provider::Provider& provider,
                                     const std::vector<const provider::Provider*>& replacing,
                                     store::Store& store, const Options& options,
                                     const problem::GpuTarget& target, problem::Program program,
                                     store::Id build, store::Run run_row, Observer& observer) {
  CompiledProgram result{.program = std::move(program), .dispatches = {}, .not_tuned = {}};
  HONE_ASSIGN(const auto chosen,
              select_dispatches(result.program, options.dispatches, result.not_tuned));
  HONE_ASSIGN(run_row.program,
              store.intern(store::Program{0, result.program.hash, options.input, "{}"}));
  HONE_TRY(store.begin_run(run_row));
  note_kernels_without_use(replacing, chosen, observer);
  Status status;
  const Stopwatch watch;
  plan::WorkPlan plan(/*everything=*/true);
  for (const problem::Dispatch* const dispatch : chosen) plan.add({dispatch->name});
  while (const auto place = plan.next()) {
    const double left = options.budget_seconds - watch.seconds();
    const double seconds = plan.seconds_for(*place, left);
    const Share share{plan.count(plan::State::kFinished), chosen.size(), seconds, left - seconds};
    auto compiled =
        CompileOnly(compiler, provider, replacing, store, options, target, build, observer)
            .run(*chosen[*place], share);
    if (!compiled) {
      status = tl::unexpected(std::move(compiled).error());
      break;
    }
    plan.finish(*place);
    result.dispatches.push_back(std::move(*compiled));
  }
  const bool interrupted = !status && status.error().kind == ErrorKind::kInterrupted;
  HONE_TRY(store.end_run(status        ? store::RunState::kFinished
                         : interrupted ? store::RunState::kInterrupted
                                       : store::RunState::kFailed));
  HONE_TRY(status);
  return result;
}

}  // namespace hone::tune
