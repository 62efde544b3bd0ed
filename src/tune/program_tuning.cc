#include "tune/program_tuning.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "measure/runner.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "trial/records.h"
#include "tune/dispatch/compile_only.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/dispatch_weight.h"
#include "tune/dispatch/own_shard.h"
#include "tune/dispatch/prepared_work.h"
#include "tune/program/build_bench.h"
#include "tune/program/program_calls.h"
#include "tune/program/program_in_f32.h"
#include "tune/program/program_outputs.h"
#include "tune/program/spec_entries.h"
#include "tune/services/function_choice.h"
#include "tune/services/load_program.h"

namespace hone::tune {
Status ProgramTuning::load(std::shared_ptr<const std::string> bytes, References references) {
  const auto span = context_.spend(trial::Activity::kSplit);
  const Options& options = context_.options;
  bytes_ = std::move(bytes);
  HONE_TRY(split(references));
  HONE_TRY(choose_function());
  HONE_ASSIGN(result_.program_id, context_.store.intern(store::ProgramRow{0, result_.program.hash,
                                                                          options.input, "{}"}));
  result_.not_tuned.clear();
  if (const int configured = result_.program.configured_operations; configured > 0)
    context_.note_once(
        "{} of the program's operations {} configured in it: that is the default which "
        "others are compared with",
        configured, configured == 1 ? "is" : "are");
  auto chosen = select_dispatches(result_.program, options.dispatches, result_.not_tuned);
  if (chosen) chosen_ = std::move(*chosen);
  // If nothing can be tuned, flags may still make the whole program faster. Extra flags under which
  // nothing can be tuned compete as a build of their own.
  const bool has_flags = options.prove && options.dispatches.empty() && is_callable_ &&
                         context_.baseline.extra_flags.flags.empty();
  if (chosen || (chosen.error().kind == ErrorKind::kFailure && has_flags)) return {};
  return tl::unexpected(std::move(chosen).error());
}

problem::GivenSizes ProgramTuning::given() const {
  const Options& options = context_.options;
  return sizes_given(result_.sizes, options.function, options.inputs);
}

Status ProgramTuning::split(References references) {
  const ProgramsToLoad programs = programs_to_load(context_, *bytes_, {}, given());
  const bool wants_references = references == References::kLoaded;
  if (wants_references) context_.compiler.prefetch_load(programs.reference);
  HONE_ASSIGN(result_.program, context_.compiler.load_program(programs.tuned));
  HONE_TRY(ask_for_spaces(context_.compiler, *context_.programs, programs.tuned.flags,
                          result_.program, context_.replacing));
  if (!wants_references) return {};
  HONE_ASSIGN(problem::Program reference, context_.compiler.load_program(programs.reference));
  references_ = std::move(reference.dispatches);
  return {};
}

// Checks the user's function and inputs before anything is tuned, and asks for missing sizes and
// values. Any other reason why nothing can be called is not an error.
Status ProgramTuning::choose_function() {
  const Options& options = context_.options;
  problem::Program& program = result_.program;
  if (!options.prove && options.function.empty()) return {};
  const auto function = function_to_call(program, options.function, options.inputs);
  if (!function && function.error().kind == ErrorKind::kInput)
    return tl::unexpected(function.error());
  if (!function && options.prove && lacks_sizes(program, options.function))
    return input_error("'{}': {}", options.input, function.error().message);
  if (!options.function.empty()) count_launches_in(options.function, program);
  is_callable_ = function.has_value();
  if (!function) return {};
  std::vector<std::string> others;
  for (const problem::Function& each : program.functions)
    if (each.name != function->name) others.push_back(each.name);
  if (!others.empty())
    context_.note_once("'{}' is called; not called {}: {}{}", function->name,
                       others.size() == 1 ? "is" : "are", fmt::join(others, ", "),
                       options.function.empty() ? " (--function NAME)" : "");
  if (function->keeps_state)
    context_.note_once(
        "each call of '{}' changes the next one, by a global or an argument that it "
        "overwrites: each sample is the first call of a program that is loaded anew",
        function->name);
  return {};
}

const problem::Dispatch* ProgramTuning::reference_of(const problem::Dispatch& dispatch) const {
  return find_reference(references_, dispatch);
}

// Counts launches if they vary: a kernel that is never launched is worth nothing, and one in a loop
// counts once per turn.
Status ProgramTuning::count_launches() {
  const Options& options = context_.options;
  problem::Program& program = result_.program;
  if (!options.prove || !is_callable_ || !has_varying_launches(program)) return {};
  // Counting takes a call, and shards that compile can make none. Those that measure split alike.
  if (options.compiles_only || (options.part.is_shard() && options.takes_stored)) return {};
  HONE_ASSIGN(const problem::Function function,
              function_to_call(program, options.function, options.inputs));
  HONE_TRY(tune::count_launches(context_, {options.input, *bytes_, context_.flags()}, function,
                                program));
  result_.not_tuned.clear();
  auto chosen = select_dispatches(program, options.dispatches, result_.not_tuned);
  chosen_ = chosen ? std::move(*chosen) : std::vector<const problem::Dispatch*>();
  return {};
}

// Drops the dispatches that other shards tune.
Status ProgramTuning::keep_own_shard() {
  if (!context_.options.part.is_shard()) return {};
  const std::vector<plan::Weight> weights =
      mapped(chosen_, [&](const auto* each) { return estimated_weight(context_, *each); });
  HONE_ASSIGN(const OwnShard own, own_shard(context_, chosen_, weights));
  chosen_ = mapped(own.places, [&](std::size_t place) { return chosen_[place]; });
  shard_share_ = own.share;
  return {};
}

Status ProgramTuning::weigh(double seconds, const store::Run& run) {
  HONE_TRY(count_launches());
  HONE_TRY(keep_own_shard());
  note_kernels_without_use(context_.replacing, chosen_, context_.observer);
  HONE_ASSIGN(earlier_, earlier_work(context_, run, result_.program_id));
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    HONE_ASSIGN(ids_.emplace_back(), trial::intern_dispatch(context_.store, *chosen_[i]));
    plan_.add({chosen_[i]->name});
    weigh_anew(i, estimated_weight(context_, *chosen_[i]));
    HONE_ASSIGN(const bool is_finished, take_finished(i));
    if (is_finished) plan_.finish(i, share_now(i));
  }
  // A single dispatch gets all the time, whatever its possible gain.
  const bool runs_here = !context_.options.measured_by && !context_.options.compiles_only;
  if (plan_.count(plan::State::kWaiting) > 1 && runs_here)
    HONE_TRY(measure_defaults(seconds * shard_share_ * plan::kWeighingShare));
  plan_.limit(context_.options.coverage, context_.options.most_dispatches);
  return {};
}

// Nothing where shards have searched before.
std::optional<std::size_t> ProgramTuning::next_to_search() const {
  return context_.options.part.searches() ? plan_.next() : std::nullopt;
}

Status ProgramTuning::search(double seconds, double part) {
  const Stopwatch watch(context_.clock);
  const auto left_of = [&] { return seconds - watch.seconds() - seconds_of_others(); };
  plan_.deal(seconds);
  const std::string budget = plan_.sufficient_budget(seconds, part);
  if (plan_.items().size() > 1) context_.observer.note(plan_.describe("dispatches", seconds, part));
  do {
    while (const auto place = next_to_search()) {
      const double left = left_of();
      const std::size_t done = plan_.count(plan::State::kFinished);
      const double share = plan_.seconds_for(*place, left);
      // First compiles may take longer than the share of a dispatch that is soon at its best.
      const Options& options = context_.options;
      const std::size_t least = options.budget_seconds >= plan::kWholeSessionSeconds
                                    ? plan::kRightInWholeSession
                                : options.traits().compiling_disturbs ? 0
                                                                      : 1;
      HONE_TRY(tune(*place,
                    {done, done + plan_.count(plan::State::kWaiting), share, left - share, least},
                    plan_.next_after(*place, plan::kBegunAhead)));
      plan_.finish(*place, share_now(*place));
      if (!context_.state->wrong_by_default.empty()) prefetch_witnesses_once();
      plan_.deal(left_of());  // what was not used may do for one that was left out
    }
  } while (context_.options.part.searches() && has_more_to_do(left_of()));
  HONE_TRY(abandon_begun());
  take_found();  // a wrong default among them is a reason to look at the others
  HONE_TRY(repair_others());
  HONE_TRY(leave_out(!context_.options.part.searches() ? std::string(kNotInStore)
                     : budget.empty()
                         ? std::string(kNoBudgetLeft)
                         : fmt::format("{} (--budget {} would do)", kNoBudgetLeft, budget)));
  std::ranges::sort(result_.tuned, {}, [](const TunedDispatch& each) { return each.dispatch; });
  return {};
}

// The proof needs another witness than a wrong default.
void ProgramTuning::prefetch_witnesses_once() {
  if (std::exchange(witnesses_begun_, true) || !context_.options.prove || !is_callable_) return;
  prefetch_witnesses(context_, result_.program, *bytes_);
}

// Widens the plan: three dispatches that took 95 % of the time may take 1 % of it once tuned.
bool ProgramTuning::has_more_to_do(double seconds) {
  const Options& options = context_.options;
  const bool is_limited = options.most_dispatches < chosen_.size();
  if (is_limited || seconds <= 0 || !plan_.widen(options.coverage)) return false;
  plan_.deal(seconds);
  return plan_.next().has_value();
}

double ProgramTuning::share_now(std::size_t place) const {
  const double share = plan_.items()[place].weight.share;
  for (const TunedDispatch& tuned : result_.tuned)
    if (tuned.dispatch == chosen_[place] && tuned.payload)
      return share / tuned.selection.speedup.value_or(1);
  return share;
}

// Time of repair_others(), as far as what is wrong is known.
double ProgramTuning::seconds_of_others() const {
  if (context_.state->wrong_by_default.empty()) return 0;
  const std::size_t others = chosen_.size() - plan_.count(plan::State::kFinished);
  return plan::kSecondsToVerifyDefault * static_cast<double>(others);
}

// Verifies dispatches that are not tuned if one default is wrong, since others may be too, or if
// outputs cannot be checked. A wrong one is searched until a correct candidate is found.
Status ProgramTuning::repair_others() {
  if (context_.state->wrong_by_default.empty() && context_.state->unchecked_outputs.empty())
    return {};
  HONE_TRY(verify_instead_of_outputs());
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    if (plan_.items()[i].state != plan::State::kFinished &&
        context_.state->wrong_by_default.contains(chosen_[i]->name))
      wrong.push_back(i);
  if (!wrong.empty()) prefetch_witnesses_once();
  for (std::size_t n = 0; n < wrong.size(); ++n) {
    const std::size_t done = plan_.count(plan::State::kFinished);
    HONE_TRY(tune(wrong[n],
                  {done, done + 1, seconds_needed(context_, {}), 0, /*least_right=*/1,
                   plan::kCandidatesOfRepair},
                  {wrong.begin() + static_cast<std::ptrdiff_t>(n) + 1,
                   wrong.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(wrong.size(), n + 1 + plan::kBegunAhead))}));
    plan_.finish(wrong[n]);
  }
  return abandon_begun();
}

std::vector<const problem::Dispatch*> ProgramTuning::not_verified() const {
  std::vector<const problem::Dispatch*> unknown;
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    if (plan_.items()[i].state != plan::State::kFinished) unknown.push_back(chosen_[i]);
  // Dispatches that cannot be tuned are included, to be named at least, unless the user chose
  // others.
  if (context_.options.dispatches.empty())
    for (const problem::Dispatch& dispatch : result_.program.dispatches)
      if (std::ranges::count(chosen_, &dispatch) == 0 &&
          why_not_launched(result_.program, dispatch).empty())
        unknown.push_back(&dispatch);
  return unknown;
}

Status ProgramTuning::verify_instead_of_outputs() {
  if (verified_ == 0) {
    const std::vector<const problem::Dispatch*> unknown = not_verified();
    HONE_ASSIGN(passed_over_, verify_defaults(unknown));
    verified_ = result_.tuned.size() + unknown.size() - passed_over_.size();
  }
  // A wrong default may have led here before outputs were looked at.
  if (context_.state->unchecked_outputs.empty()) return {};
  context_.state->unverified_dispatches.insert(passed_over_.begin(), passed_over_.end());
  context_.note_once(
      "{} of {} dispatches are verified by themselves, under the flags that ship{}{}", verified_,
      verified_ + passed_over_.size(),
      passed_over_.empty() ? "" : "; these cannot be: ", fmt::join(passed_over_, ", "));
  return {};
}

// Adds wrong ones to SessionState::wrong_by_default. Skips dispatches that cannot be made ready or
// verified alone. Verifies all that the budget has time for: a program with half of its wrong
// kernels repaired is as wrong as before.
Result<std::vector<std::string>> ProgramTuning::verify_defaults(
    const std::vector<const problem::Dispatch*>& dispatches) {
  std::vector<std::string> passed_over;
  DefaultsAhead defaults(context_, dispatches);
  std::size_t expected = 0;
  for (std::size_t n = 0; n < dispatches.size(); ++n) {
    context_.observer.progress(
        {.step = "verifying what is not tuned", .tried = n, .planned = dispatches.size()});
    const problem::Dispatch& dispatch = *dispatches[n];
    if (!context_.state->deadline.has(0)) {
      passed_over.push_back(dispatch.name);
      continue;
    }
    HONE_TRY(defaults.reach(n, -1));
    for (; expected < std::min(dispatches.size(), n + measure::ProblemsAhead::kMost); ++expected) {
      if (expected % context_.options.compile_ahead == 0)
        HONE_TRY(compile_references(std::span(dispatches).subspan(expected)));
      HONE_TRY(expect(*dispatches[expected]));
    }
    const auto timed = default_seconds(context_, dispatch, reference_of(dispatch));
    HONE_TRY(all_but_failure(timed));
    if (!timed && !context_.state->wrong_by_default.contains(dispatch.name))
      passed_over.push_back(dispatch.name);
  }
  HONE_TRY(defaults.end());
  return passed_over;
}

Status ProgramTuning::expect(const problem::Dispatch& dispatch) {
  if (context_.options.traits().compiling_disturbs) return {};
  const Result<measure::ProblemRequest> problem =
      problem_of(context_, dispatch, reference_of(dispatch));
  HONE_TRY(all_but_failure(problem));
  return problem ? expect_problem(context_, *problem) : Status();  // else verifying it says why
}

// Compiles the references of this and the next dispatches side by side, once for each.
Status ProgramTuning::compile_references_from(std::size_t place) {
  if (referenced_.contains(place)) return {};
  std::vector<std::size_t> places{place};
  for (const std::size_t each : plan_.waiting())
    if (!referenced_.contains(each) && each != place) places.push_back(each);
  places.resize(std::min(places.size(), context_.options.compile_ahead));
  referenced_.insert(places.begin(), places.end());
  return compile_references(mapped(places, [&](std::size_t i) { return chosen_[i]; }));
}

// Where compiling disturbs, each waits until its dispatch is measured.
Status ProgramTuning::compile_references(std::span<const problem::Dispatch* const> dispatches) {
  if (context_.options.traits().compiling_disturbs) return {};
  std::vector<Referenced> referenced;
  for (const problem::Dispatch* const dispatch : dispatches)
    referenced.push_back({dispatch, reference_of(*dispatch)});
  return tune::compile_references(context_, referenced);
}

Result<bool> ProgramTuning::take_finished(std::size_t place) {
  const problem::Dispatch& dispatch = *chosen_[place];
  const store::Id id = ids_[place];
  HONE_TRY(context_.store.link_dispatch(
      {result_.program_id, id, static_cast<std::int64_t>(place), dispatch.launches_per_call}));
  const auto finished = earlier_.finished.find(id);
  if (finished == earlier_.finished.end()) return false;
  result_.tuned.push_back(finished->second);
  result_.tuned.back().dispatch = &dispatch;
  if (finished->second.default_is_wrong) context_.state->wrong_by_default.insert(dispatch.name);
  HONE_TRY(tell_done(context_, dispatch, &result_.tuned.back(), ""));
  return true;
}

// Without time for more search, a dispatch keeps what an earlier run found, and the proof judges
// it. A rerun with more budget must not end with less than before.
void ProgramTuning::take_found() {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const TunedDispatch* const known = found(i);
    if (plan_.items()[i].state == plan::State::kFinished || known == nullptr) continue;
    // If the earlier run found nothing correct either, this run tries again (repair_others).
    if (known->default_is_wrong) context_.state->wrong_by_default.insert(chosen_[i]->name);
    if (!known->payload) continue;
    result_.tuned.push_back(*known);
    result_.tuned.back().dispatch = chosen_[i];
    plan_.finish(i, share_now(i));
  }
}

const TunedDispatch* ProgramTuning::found(std::size_t place) const {
  return value_at(earlier_.found, ids_[place]);
}

// Subtracts what an earlier run gained from the possible gain. If that run found nothing, the
// possible gain is unchanged.
void ProgramTuning::weigh_anew(std::size_t place, const plan::Weight& weight) {
  if (!why_of_no_use(*chosen_[place]).empty())
    return plan_.weigh(place, {weight.share, 0, weight.needs});
  const TunedDispatch* const known = found(place);
  if (known == nullptr || !known->payload) return plan_.weigh(place, weight);
  const double now = weight.share / known->selection.speedup.value_or(1);
  const double left = std::max(plan::kLeastGainLeft * now, weight.gain - (weight.share - now));
  plan_.weigh(place, {weight.share, left, weight.needs}, now);
}

std::string ProgramTuning::why_of_no_use(const problem::Dispatch& dispatch) const {
  const bool is_replaced = std::ranges::any_of(
      context_.replacing,
      [&](const provider::Provider* maker) { return maker->why_no_space(dispatch).empty(); });
  return is_replaced ? std::string() : context_.programs->specs().why_no_entry(dispatch);
}

// Weighs dispatches by their default's time. If there is no time to measure one, its estimate is
// scaled by the median error of the other estimates.
Status ProgramTuning::measure_defaults(double seconds) {
  const Stopwatch watch(context_.clock);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    if (plan_.items()[i].state == plan::State::kWaiting) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return plan_.items()[i].weight.share; });
  std::vector<const problem::Dispatch*> dispatches;
  for (const std::size_t i : order) dispatches.push_back(chosen_[i]);
  std::vector<double> wrong;
  DefaultsAhead defaults(context_, dispatches);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t i = order[n];
    const plan::Weight estimate = estimated_weight(context_, *chosen_[i]);
    const double left = seconds - watch.seconds();
    if (left < 0) {
      // The estimate is a bound: what is beyond it can be gained.
      const double share = estimate.share * (wrong.empty() ? 1 : measure::median(wrong));
      const double gain = std::max(plan::kLeastExpectedGain * share, share - estimate.share);
      weigh_anew(i, {share, gain, estimate.needs});
      continue;
    }
    context_.observer.progress(
        {.step = "weighing the dispatches", .tried = n, .planned = order.size()});
    HONE_TRY(defaults.reach(n, left));
    const Result<plan::Weight> weight = weigh_dispatch(context_, *chosen_[i]);
    HONE_TRY(all_but_failure(weight));
    if (!weight) continue;  // tuning it says why
    wrong.push_back(weight->share / estimate.share);
    weigh_anew(i, *weight);
  }
  return defaults.end();
}

Status ProgramTuning::tune(std::size_t place, const Share& share,
                           const std::vector<std::size_t>& next) {
  const problem::Dispatch& dispatch = *chosen_[place];
  if (context_.options.compiles_only) return compile(place, share);
  HONE_TRY(compile_references_from(place));
  HONE_ASSIGN(std::vector<Next> prepared, prepare(next, place));
  Turn turn{share, reference_of(dispatch)};
  if (const auto begun = begun_.extract(place)) turn.begun = begun.mapped();
  for (const Next& each : prepared) turn.next.push_back(&each.problem);
  turn.after_search = [&]() -> Status {
    for (Next& each : prepared) HONE_TRY(begin(std::move(each), share));
    return {};
  };
  HONE_ASSIGN(std::optional<TunedDispatch> tuned,
              tune_and_keep(context_, dispatch, turn, result_.not_tuned));
  if (tuned) result_.tuned.push_back(std::move(*tuned));
  return {};
}

Status ProgramTuning::compile(std::size_t place, const Share& share) {
  const problem::Dispatch& dispatch = *chosen_[place];
  const Options& options = context_.options;
  const Stopwatch clock(context_.clock);
  CompileOnlyRequest request{.compiler = context_.compiler,
                             .provider = context_.provider,
                             .replacing = {},  // they compile where they are measured
                             .store = context_.store,
                             .options = options,
                             .target = {},
                             .build = context_.baseline.build,
                             .observer = context_.observer,
                             .extra_flags = context_.baseline.extra_flags.flags};
  if (auto gpu = problem::gpu_target(options.place().facts.target))
    request.target = std::move(*gpu);
  HONE_ASSIGN(const store::Id reference_build, context_.build_with(options.reference_flags));
  HONE_ASSIGN(const store::BuildRow reference_row, context_.store.build(reference_build));
  request.prepared.reference_build = BuildText::of(reference_row);
  const auto span = context_.spend(trial::Activity::kWait);
  const auto compiled = compile_ahead(request, dispatch, reference_of(dispatch), share);
  HONE_TRY(all_but_failure(compiled));
  const std::string failure = compiled ? compiled->default_failure : compiled.error().message;
  if (!failure.empty()) {
    context_.observer.note(fmt::format("'{}' is not compiled: {}", dispatch.name, failure));
    result_.not_tuned.push_back({dispatch.name, failure});
  }
  TunedDispatch done;
  done.seconds = clock.seconds();
  if (compiled) done.search.tried = compiled->tried;
  return tell_done(context_, dispatch, &done, failure);
}

// The reference of a large dispatch takes seconds, and its spaces tenths, in which the device would
// idle.
Result<std::vector<ProgramTuning::Next>> ProgramTuning::prepare(
    const std::vector<std::size_t>& next, std::size_t after) {
  std::vector<Next> prepared;
  if (context_.options.traits().compiling_disturbs) return prepared;
  // Equal dispatches use one compile server, so they do not compile side by side.
  std::set<std::string> beside{problem::fingerprint(*chosen_[after])};
  for (const auto& [place, begun] : begun_) beside.insert(problem::fingerprint(*chosen_[place]));
  for (const std::size_t place : next) {
    const problem::Dispatch& dispatch = *chosen_[place];
    if (!beside.insert(problem::fingerprint(dispatch)).second) continue;
    HONE_TRY(compile_references_from(place));
    Result<measure::ProblemRequest> problem =
        problem_of(context_, dispatch, reference_of(dispatch));
    HONE_TRY(all_but_failure(problem));
    if (!problem) continue;  // tuning it says why
    prepared.push_back({place, std::move(*problem), std::async(std::launch::async, [&, this] {
                          return contenders_for(context_, dispatch);
                        })});
  }
  return prepared;
}

Status ProgramTuning::begin(Next next, const Share& share) {
  const problem::Dispatch& dispatch = *chosen_[next.place];
  Share expected = share;
  if (share.after > 0) expected.seconds = plan_.seconds_for(next.place, share.after);
  Result<BegunDispatch> begun =
      next.contenders.get().and_then([&](std::deque<Contender>&& contenders) {
        return begin_dispatch(context_, dispatch, reference_of(dispatch), std::move(contenders),
                              expected);
      });
  HONE_TRY(all_but_failure(begun));
  if (begun) begun_.emplace(next.place, std::move(*begun));  // else its turn says why
  return {};
}

Status ProgramTuning::abandon_begun() {
  for (const auto& [place, begun] : begun_) HONE_TRY(abandon(begun));
  begun_.clear();
  return {};
}

// A dispatch that shares its spec entry with a winner gets that winner too, or neither gets it. The
// winner is verified and measured in it (size_choice.h), so it counts as tuned.
Status ProgramTuning::leave_out(const std::string& reason) {
  take_found();
  const std::size_t searched = result_.tuned.size();
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const plan::State state = plan_.items()[i].state;
    if (state == plan::State::kFinished) continue;
    const std::string of_no_use = why_of_no_use(*chosen_[i]);
    const std::string why =
        !of_no_use.empty()
            ? "no winner could be used in the program (--dispatch searches it anyway): " + of_no_use
        : state == plan::State::kBeyond ? "below --coverage or --top"
                                        : reason;
    const auto last = result_.tuned.begin() + static_cast<std::ptrdiff_t>(searched);
    const bool shares = std::any_of(result_.tuned.begin(), last, [&](const TunedDispatch& tuned) {
      // A replacing kernel serves all launches of its executable, and no other dispatch.
      return tuned.payload &&
             (tuned.replaces()
                  ? tuned.dispatch->executable == chosen_[i]->executable
                  : one_entry_for(context_.programs->specs(), *tuned.dispatch, *chosen_[i]));
    });
    if (!shares) {
      result_.not_tuned.push_back({chosen_[i]->name, why, plan_.share_of(i)});
      continue;
    }
    TunedDispatch& mate = result_.tuned.emplace_back();
    mate.dispatch = chosen_[i];
    mate.id = ids_[i];
    mate.keep_default(why);
  }
  return {};
}

Status ProgramTuning::prove(const std::vector<VerifiedBuild>& rivals) {
  const auto span = context_.spend(trial::Activity::kProgram);
  HONE_ASSIGN(result_.proven,
              prove_program(context_, {result_.program, *bytes_, given(), result_.tuned,
                                       [this](const problem::Dispatch& dispatch) {
                                         return reference_of(dispatch);
                                       },
                                       rivals}));
  // Without a flag search or a repair, the proof is the first to find that outputs cannot be
  // checked.
  return context_.state->unchecked_outputs.empty() ? Status() : verify_instead_of_outputs();
}

Status ProgramTuning::record(const VerifiedBuild* best) {
  if (result_.proven.bench != nullptr) {
    HONE_ASSIGN(const std::vector<store::ProgramMeasurement> rows,
                result_.proven.bench->builds.rows(label_));
    for (const store::ProgramMeasurement& row : rows) HONE_TRY(context_.store.record(row));
  }
  for (TunedDispatch& tuned : result_.tuned) {
    store::SelectionRow& selection = tuned.selection;
    selection.dispatch = tuned.id;
    selection.build = context_.baseline.build;
    selection.device = context_.device;
    const std::vector<store::Id>& written = result_.proven.shipped;
    const std::vector<store::Id> shipped = best != nullptr ? best->shipped : written;
    selection.shipped = std::ranges::count(shipped, tuned.id) > 0;
    if (!selection.shipped && std::ranges::count(written, tuned.id) > 0)
      selection.reason = best != nullptr && best->uses_spec()
                             ? fmt::format("not shipped: '{}' does", best->label)
                             : "not shipped: no gain of the spec is proved in the whole program";
    for (const LeftOut& left_out : result_.proven.left_out)
      if (left_out.dispatch == tuned.dispatch->name)
        selection.reason = "left out of the spec: " + left_out.reason;
    HONE_TRY(context_.store.record(selection));
  }
  return {};
}

}  // namespace hone::tune
