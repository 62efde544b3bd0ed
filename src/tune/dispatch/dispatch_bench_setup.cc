// Sets up a bench: the dispatch's compile server, its reference, the problem on each device, and
// the default that all candidates are compared with.
#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "measure/arithmetic_bound.h"
#include "measure/reference.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "trial/protocols.h"
#include "trial/records.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/prepared_work.h"
#include "tune/services/session_steps.h"

namespace hone::tune {
namespace {

// A source names its own target, so an equal source would give the same code.
bool is_independent(const problem::Dispatch& dispatch, const problem::Dispatch* reference) {
  return reference != nullptr && reference->source != dispatch.source;
}

// Whether something runs on the host that a dispatch's reference can be compiled from.
bool has_source(const Context& context, const problem::Dispatch* reference) {
  return reference != nullptr || context.options.traits().runs_on_host;
}

// Source that a dispatch's reference is compiled from, and its name in SessionState::references.
struct ReferenceSource {
  std::string name, fingerprint;
  trial::DispatchToPrepare dispatch;
};

ReferenceSource source_of(const Context& context, const problem::Dispatch& dispatch,
                          const problem::Dispatch* reference) {
  const bool independent = is_independent(dispatch, reference);
  const problem::Dispatch& from = independent ? *reference : dispatch;
  const std::vector<std::string> flags =
      independent ? context.options.reference_flags : context.flags();
  const std::string fingerprint = problem::fingerprint(from), key = fingerprint + "#reference";
  return {key + nlohmann::json(flags).dump(), fingerprint, {key, from.source, flags}};
}

// Whether the session knows the code of the reference. Looks for it in the store, where that holds
// what was compiled ahead.
Result<bool> is_known(Context& context, const ReferenceSource& source) {
  if (context.state->references.contains(source.name)) return true;
  if (!context.options.takes_stored) return false;
  HONE_ASSIGN(const store::Id build, context.build_with(source.dispatch.flags));
  HONE_ASSIGN(std::optional<provider::Artifact> code,
              stored_default(context.store, source.fingerprint, build, context.provider.name(),
                             context.options.trust));
  if (!code) return false;
  context.state->references.emplace(source.name, std::move(*code));
  return true;
}

// Compiles the reference once per session, for all callers.
Result<provider::Artifact> compile_reference(Context& context, const problem::Dispatch& dispatch,
                                             const problem::Dispatch* reference) {
  const ReferenceSource source = source_of(context, dispatch, reference);
  HONE_ASSIGN(const bool known, is_known(context, source));
  if (known) return context.state->references.at(source.name);
  if (context.options.measures_only)
    return failure("'{}' cannot be verified: the store has no code of its reference",
                   dispatch.name);
  HONE_ASSIGN(std::vector<trial::CompiledCandidate> compiled,
              context.compiler.compile_alone(source.dispatch, {std::nullopt}));
  auto& artifact = compiled.front().artifact;
  if (!artifact)
    return failure("the reference of '{}' does not compile: {}", dispatch.name,
                   artifact.error().message);
  return context.state->references.emplace(source.name, std::move(*artifact)).first->second;
}

measure::ProblemRequest problem_without_reference(const Context& context,
                                                  const problem::Dispatch& dispatch) {
  return {dispatch,
          context.options.place().address,
          context.options.seed,
          context.options.cache,
          context.options.last_level_cache(),
          {}};
}

}  // namespace

Result<measure::ProblemRequest> problem_of(Context& context, const problem::Dispatch& dispatch,
                                           const problem::Dispatch* reference) {
  measure::ProblemRequest problem = problem_without_reference(context, dispatch);
  if (measure::has_exact_reference(dispatch)) return problem;
  if (!has_source(context, reference))
    return failure("'{}' cannot be verified: compiled for a CPU the program has no such dispatch",
                   dispatch.name);
  HONE_ASSIGN(problem.reference, compile_reference(context, dispatch, reference));
  return problem;
}

Status expect_problem(Context& context, const measure::ProblemRequest& next) {
  for (std::size_t i = 0; i <= context.more_runners.size(); ++i) {
    measure::ProblemRequest request = next;
    request.device = context.options.places.at(i).address;
    HONE_TRY(context.runner_of(i)->expect_problem(request));
  }
  return {};
}

void keep_reference(Context& context, const problem::Dispatch& dispatch,
                    const problem::Dispatch* reference, provider::Artifact code) {
  context.state->references.emplace(source_of(context, dispatch, reference).name, std::move(code));
}

Status compile_references(Context& context, std::span<const Referenced> dispatches) {
  const auto span = context.spend(trial::Activity::kPrepare);
  std::vector<ReferenceSource> sources;
  std::vector<trial::DispatchToPrepare> servers;
  for (const auto& [dispatch, reference] :
       dispatches.first(std::min(dispatches.size(), context.options.compile_ahead))) {
    if (measure::has_exact_reference(*dispatch) || !has_source(context, reference)) continue;
    ReferenceSource source = source_of(context, *dispatch, reference);
    HONE_ASSIGN(const bool known, is_known(context, source));
    if (known || std::ranges::count(sources, source.name, &ReferenceSource::name) > 0) continue;
    servers.push_back(source.dispatch);
    sources.push_back(std::move(source));
  }
  HONE_ASSIGN(const std::vector<Status> prepared, context.compiler.prepare_each(servers));
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (prepared[i]) HONE_TRY(context.compiler.submit(servers[i].key, {}));
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!prepared[i]) continue;  // who needs it says why
    HONE_ASSIGN(auto compiled, context.compiler.next_finished(servers[i].key));
    if (compiled && compiled->artifact)
      context.state->references.emplace(sources[i].name, std::move(*compiled->artifact));
    HONE_TRY(context.compiler.release(servers[i].key));
  }
  return {};
}

Result<DispatchBench> DispatchBench::open(Context& context, const problem::Dispatch& dispatch) {
  HONE_ASSIGN(const store::Id id, trial::intern_dispatch(context.store, dispatch));
  const device::Place& place = context.options.place();
  trial::TrialRunner trials(
      context.trial_services(), id, dispatch.bindings,
      {problem::fingerprint(dispatch), dispatch.source, context.flags(),
       place.traits.assembles_code ? place.facts.target : "", dispatch.statement});
  DispatchBench bench(context, dispatch, std::move(trials));
  HONE_ASSIGN(
      bench.default_.candidate,
      context.store.add_candidate(bench.candidate_row(std::string(store::kDefaultConfiguration))));
  return bench;
}

Result<DispatchBench> DispatchBench::prepare(Context& context, const problem::Dispatch& dispatch,
                                             const problem::Dispatch* reference) {
  const auto span = context.spend(trial::Activity::kPrepare);
  HONE_ASSIGN(DispatchBench bench, open(context, dispatch));
  HONE_ASSIGN(bench.problem_, problem_of(context, dispatch, reference));
  if (bench.problem_->reference && !is_independent(dispatch, reference))
    HONE_TRY(bench.say_no_reference());
  return bench;
}

Result<DispatchBench> DispatchBench::prepare_to_time(Context& context,
                                                     const problem::Dispatch& dispatch) {
  const auto span = context.spend(trial::Activity::kPrepare);
  HONE_ASSIGN(DispatchBench bench, open(context, dispatch));
  bench.problem_ = problem_without_reference(context, dispatch);
  bench.problem_->only_timed = true;
  return bench;
}

DefaultsAhead::DefaultsAhead(Context& context, std::span<const problem::Dispatch* const> dispatches)
    : context_(context), dispatches_(dispatches) {}
DefaultsAhead::~DefaultsAhead() = default;

Status DefaultsAhead::reach(std::size_t place, double seconds) {
  const std::size_t together = context_.options.compile_ahead;
  if (place % together != 0) return {};
  const auto span = context_.spend(trial::Activity::kWait);
  if (begun_ <= place) HONE_TRY(begin(place));
  HONE_TRY(finish(seconds));
  return context_.options.traits().compiling_disturbs ? Status() : begin(place + together);
}

// Dispatches with equal sources count once.
Status DefaultsAhead::begin(std::size_t place) {
  begun_ = std::min(place + context_.options.compile_ahead, dispatches_.size());
  std::vector<trial::DispatchToPrepare> servers;
  for (; place < begun_; ++place) {
    HONE_ASSIGN(DispatchBench bench, DispatchBench::open(context_, *dispatches_[place]));
    HONE_TRY(bench.trials_.recall(bench.default_));
    if (bench.default_.state != trial::TrialState::kProposed ||
        std::ranges::count(compiling_, bench.key(), &DispatchBench::key) > 0)
      continue;
    servers.push_back(bench.trials_.take_server());
    compiling_.push_back(std::move(bench));
  }
  HONE_ASSIGN(const std::vector<Status> prepared, context_.compiler.prepare_each(servers));
  for (std::size_t i = 0; i < compiling_.size(); ++i)
    if (prepared[i]) HONE_TRY(compiling_[i].compile_default());  // else who tunes it says why
  return {};
}

Status DefaultsAhead::finish(double seconds) {
  const Stopwatch watch(context_.clock);
  for (DispatchBench& bench : compiling_) {
    const double left = seconds < 0 ? -1 : std::max(0.0, seconds - watch.seconds());
    HONE_TRY(bench.trials_.finish_compiling({&bench.default_}, left));
    HONE_TRY(bench.trials_.cancel_compiles());
    HONE_TRY(context_.compiler.release(bench.key()));
  }
  compiling_.clear();
  return {};
}

Status DispatchBench::say_no_reference() {
  trials_.verify_by(store::kOwnFlagsReference);
  const std::string note = fmt::format(
      "'{}': no independent compile of it can be had; candidates are compared with the compiler's "
      "own choice under the same flags, and a mistake that both make is not seen",
      name_);
  context_->note_once(note);
  return context_->store.log_event("no independent reference", note);
}

Status DispatchBench::set_up() {
  if (!context_->options.traits().compiling_disturbs) HONE_TRY(compile_default());
  {
    const auto span = context_->spend(trial::Activity::kPrepare);
    HONE_TRY(set_problem(*problem_));
    problem_.reset();
    HONE_TRY(learn_least_seconds());
  }
  HONE_TRY(run_default());
  if (default_.failure && default_.failure->kind == provider::FailureKind::kWrong &&
      context_->programs != nullptr)
    return go_on_with_wrong_default();
  return default_.failure ? no_default(*default_.failure) : Status();
}

// Stores the wrong default's time as usual: correct kernels are compared with it.
Status DispatchBench::go_on_with_wrong_default() {
  context_->state->wrong_by_default.insert(name_);
  default_is_wrong_ = default_.failure->message;
  HONE_ASSIGN(const std::optional<measure::MeasureResult> measured, time_unverified());
  if (!measured || measured->handles.front().seconds.empty()) return no_default(*default_.failure);
  HONE_TRY(trials_.record_samples(default_.identity, measured->handles.front(),
                                  store::Phase::kSearch, 1.0, *measured));
  default_.failure.reset();
  default_.ratio = 1.0;
  default_.timing = trial::timing_of(measured->handles.front().seconds);
  default_.state = trial::TrialState::kMeasured;
  return {};
}

Status DispatchBench::time_default() {
  default_.ignore_stored_failure = true;
  for (;;) {
    HONE_TRY(trials_.begin({&default_}));
    HONE_TRY(trials_.finish_compiling({&default_}, -1));
    if (!default_.is_pending()) break;
    HONE_TRY(context_->leases->wait());
  }
  if (default_.timing) default_seconds_ = default_.timing->median;
  // An earlier run found it wrong. Its time in the program is still needed.
  if (default_.failure && default_.failure->kind == provider::FailureKind::kWrong) {
    default_.failure.reset();
    default_.state = trial::TrialState::kCompiled;
  }
  const bool measured = default_.state == trial::TrialState::kMeasured;
  if (!measured || !context_->state->peak) {
    const auto span = context_->spend(trial::Activity::kPrepare);
    lanes_.push_back({context_->runner_of(0), context_->options.place().address});
    HONE_TRY(context_->runner.set_problem(*problem_));
    HONE_TRY(learn_least_seconds());
  }
  if (!measured && !default_.failure) HONE_TRY(time_unverified());
  return default_.failure ? no_default(*default_.failure) : Status();
}

// nullopt, and the default's failure set, if it does not run.
Result<std::optional<measure::MeasureResult>> DispatchBench::time_unverified() {
  HONE_ASSIGN(provider::Artifact code, artifact(default_.candidate));
  trial::RunnerKernel kernel{std::move(code)};
  measure::MeasureRequest how;
  how.protocol = trial::search_protocol(0, context_->options.traits());
  how.seed = context_->options.seed;
  how.least_seconds = least_seconds_;
  const auto span = context_->spend(trial::Activity::kMeasure);
  HONE_ASSIGN(const trial::KernelResult<measure::MeasureResult> measured,
              trial::KernelRunner(context_->runner).measure({&kernel}, nullptr, how));
  if (!measured) {
    default_.failure = measured.error();
    return std::nullopt;
  }
  if (!measured->handles.front().seconds.empty())
    default_seconds_ = trial::timing_of(measured->handles.front().seconds).median;
  return *measured;
}

Status DispatchBench::check_default() const {
  if (default_is_wrong_.empty()) return {};
  return no_default({provider::FailureKind::kWrong, default_is_wrong_});
}

tl::unexpected<Error> DispatchBench::no_default(const provider::Failure& why) const {
  return failure("the compiler's own configuration of '{}' fails ({}): {}", name_,
                 provider::name_of(why.kind), why.message);
}

// Computes the other devices' references while the first one's is computed.
Status DispatchBench::set_problem(const measure::ProblemRequest& problem) {
  for (std::size_t i = 0; i <= context_->more_runners.size(); ++i)
    lanes_.push_back({context_->runner_of(i), context_->options.places.at(i).address});
  const auto set = [&problem](Lane& lane) {
    measure::ProblemRequest request = problem;
    request.device = lane.device;
    return lane.runner->set_problem(request);
  };
  std::vector<std::future<Result<measure::ProblemReady>>> others;
  for (std::size_t i = 1; i < lanes_.size(); ++i)
    others.push_back(std::async(std::launch::async, set, std::ref(lanes_[i])));
  const Result<measure::ProblemReady> first = set(lanes_.front());
  Status status;
  for (auto& other : others)
    if (const auto ready = other.get(); !ready) status = tl::unexpected(ready.error());
  HONE_TRY(first);
  HONE_TRY(status);
  if (!first->note.empty()) context_->observer.note(first->note);
  if (reference().empty()) trials_.verify_by(first->reference);
  return {};
}

// Queries the device once in a session, and only where its peak is a bound.
Status DispatchBench::learn_least_seconds() {
  const bool matrix_units = context_->options.traits().matrix_units;
  device::Peak any;
  any.gflops = any.stated_matrix_gflops = 1;
  if (measure::most_flops(root_, any, matrix_units) == 0) return {};
  HONE_TRY(learn_peak(*context_));
  least_seconds_ = measure::least_seconds(root_, *context_->state->peak, matrix_units);
  return {};
}

// Retries the default after an accident of an earlier run, such as a worker killed for want of
// memory. Everything of a dispatch depends on its default.
Status DispatchBench::run_default() {
  default_.ignore_stored_failure = true;
  HONE_TRY(run_to_the_end({&default_}));  // without it there is nothing to do meanwhile
  if (default_.timing) default_seconds_ = default_.timing->median;
  return {};
}

double DispatchBench::seconds_at_peak() const {
  return context_->state->peak ? measure::seconds_at_peak(root_, *context_->state->peak,
                                                          context_->options.traits().matrix_units)
                               : 0;
}

std::string DispatchBench::differing_devices() const {
  struct Seen {
    std::string device;
    double median;
    measure::Interval interval;
  };
  std::vector<Seen> seen;
  for (const Lane& lane : lanes_)
    if (!lane.sentinel_seconds.empty())
      seen.push_back({device::name_of(lane.device), measure::median(lane.sentinel_seconds),
                      measure::median_interval(lane.sentinel_seconds)});
  if (seen.size() < 2) return {};
  const auto [fast, slow] = std::minmax_element(
      seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.median < b.median; });
  const double difference = slow->median / fast->median - 1;
  if (difference < plan::kDeviceDifference || !(slow->interval.low > fast->interval.high))
    return {};
  return fmt::format(
      "{} runs the default of '{}' in {:.2f} % more time than {}, which is more than their noise; "
      "each candidate was compared with the default on its own device",
      slow->device, name_, 100 * difference, fast->device);
}

}  // namespace hone::tune
