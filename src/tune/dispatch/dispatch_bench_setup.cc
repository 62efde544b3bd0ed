// Making a bench ready: the dispatch's compile server, its reference, the problem on each device,
// and the default that all candidates are compared with.
#include <algorithm>
#include <future>

#include "measure/arithmetic_bound.h"
#include "measure/reference.h"
#include "measure/statistics.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/records.h"

namespace hone::tune {
namespace {

constexpr int kDefaultAttempts = 2;
// Below this nobody would choose a device by it.
constexpr double kNoDifference = 0.005;

Result<provider::Artifact> compile_reference(CompileService& compiler,
                                             const problem::Dispatch& dispatch,
                                             const std::vector<std::string>& flags) {
  const std::string key = problem::fingerprint(dispatch) + "#reference";
  HONE_TRY(compiler.prepare({key, dispatch.source, flags}));
  HONE_ASSIGN(CompiledCandidate compiled, compiler.compile(key, std::nullopt));
  if (!compiled.artifact) {  // once more: it may have died by accident
    HONE_ASSIGN(compiled, compiler.compile(key, std::nullopt));
  }
  HONE_TRY(compiler.release(key));
  if (!compiled.artifact)
    return failure("the reference of '{}' does not compile: {}", dispatch.name,
                   compiled.artifact.error().message);
  return std::move(*compiled.artifact);
}

}  // namespace

Result<DispatchBench> DispatchBench::prepare(Context& context, const problem::Dispatch& dispatch,
                                             const problem::Dispatch* reference) {
  const TimeBudget::Span span(context.time, Activity::kPrepare);
  DispatchBench bench(context, dispatch);
  store::Store& store = context.store;
  HONE_ASSIGN(const store::Id operation, store.intern(operation_row(dispatch.root)));
  HONE_ASSIGN(bench.dispatch_id_, store.intern(dispatch_row(dispatch, operation)));
  bench.key_ = problem::fingerprint(dispatch);
  const device::Place& place = context.options.place();
  HONE_TRY(context.compiler.prepare({bench.key_, dispatch.source, context.flags(),
                                     place.traits.assembles_code ? place.facts.target : "",
                                     dispatch.contraction}));

  measure::ProblemRequest problem{dispatch,
                                  place.address,
                                  context.options.seed,
                                  context.options.cache,
                                  context.options.last_level_cache(),
                                  {}};
  if (!measure::has_exact_reference(dispatch)) {
    if (reference == nullptr && !place.traits.runs_on_host)
      return failure("'{}' cannot be verified: compiled for a CPU the program has no such dispatch",
                     dispatch.name);
    // A source says itself what it is compiled for: of an equal one the code would be the same.
    const bool independent = reference != nullptr && reference->source != dispatch.source;
    if (!independent) HONE_TRY(bench.say_no_reference());
    const std::vector<std::string> flags =
        independent ? context.options.reference_flags : context.flags();
    HONE_ASSIGN(problem.reference,
                compile_reference(context.compiler, independent ? *reference : dispatch, flags));
  }
  bench.problem_ = std::move(problem);

  HONE_ASSIGN(bench.default_.candidate,
              store.add_candidate(bench.candidate_row(std::string(store::kDefaultConfiguration))));
  return bench;
}

Status DispatchBench::say_no_reference() {
  reference_ = store::kOwnFlagsReference;
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
    const TimeBudget::Span span(context_->time, Activity::kPrepare);
    HONE_TRY(set_problem(*problem_));
    problem_.reset();
    HONE_TRY(learn_least_seconds());
  }
  HONE_TRY(run_default());
  if (default_.failure)
    return failure("the compiler's own configuration of '{}' fails ({}): {}", name_,
                   provider::name_of(default_.failure->kind), default_.failure->message);
  return {};
}

// The others' references are computed while the first one's is.
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
  if (reference_.empty()) reference_ = first->reference;
  return {};
}

// The device is asked once in a session, and only where its peak bounds something.
Status DispatchBench::learn_least_seconds() {
  const bool matrix_units = context_->options.traits().matrix_units;
  device::Peak any;
  any.gflops = any.stated_matrix_gflops = 1;
  if (measure::most_flops(root_, any, matrix_units) == 0) return {};
  if (!context_->peak) {
    const Result<device::Peak> peak = lanes_.front().runner->peak();
    if (!peak && peak.error().kind != ErrorKind::kFailure) return tl::unexpected(peak.error());
    context_->peak = peak.value_or(device::Peak{});
  }
  least_seconds_ = measure::least_seconds(root_, *context_->peak, matrix_units);
  return {};
}

// Everything of a dispatch depends on its default, so one accident, now or in an earlier run (a
// worker that the system killed for want of memory), must not be its last word.
Status DispatchBench::run_default() {
  for (int attempt = 0; attempt < kDefaultAttempts; ++attempt) {
    Trial fresh;
    fresh.candidate = default_.candidate;
    fresh.anew = true;
    std::vector<Trial> trials{fresh};
    HONE_TRY(run(trials));
    while (trials.front().elsewhere) {  // without it there is nothing to do meanwhile
      HONE_TRY(context_->leases->wait());
      HONE_TRY(run(trials));
    }
    default_ = trials.front();
    if (!default_.failure) return {};
  }
  return {};
}

double DispatchBench::seconds_at_peak() const {
  return context_->peak ? measure::seconds_at_peak(root_, *context_->peak,
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
  if (difference < kNoDifference || !(slow->interval.low > fast->interval.high)) return {};
  return fmt::format(
      "{} runs the default of '{}' in {:.2f} % more time than {}, which is more than their noise; "
      "each candidate was compared with the default on its own device",
      slow->device, name_, 100 * difference, fast->device);
}

}  // namespace hone::tune
