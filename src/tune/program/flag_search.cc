#include "tune/program/flag_search.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "base/file.h"
#include "base/ranges.h"
#include "base/stopwatch.h"
#include "measure/statistics.h"
#include "measure/verification.h"
#include "plan/policy.h"
#include "trial/records.h"
#include "tune/program/fusion_sets.h"
#include "tune/program/program_outputs.h"

namespace hone::tune {
namespace {

std::string_view name_in(std::string_view flag) {
  return flag.substr(0, flag.find('='));
}

bool judges_fusion_on(const Context& context) {
  return context.options.place().facts.launch_seconds > 0;
}

class FlagSearch {
 public:
  // `called`: the function and its arguments, which tell rows of this call from those of others.
  FlagSearch(Context& context, const problem::Program& program, const std::string& bytes,
             const FlagSearchRequest& request, BuildBench& builds, std::string called)
      : context_(context),
        program_(program),
        bytes_(bytes),
        request_(request),
        builds_(builds),
        called_(std::move(called)),
        watch_(context.clock) {}

  Result<FoundFlags> run(std::vector<provider::FlagChoice> choices) {
    for (provider::FlagChoice& choice : choices)
      (choice.why_not.empty() ? choices_ : found_.not_tried).push_back(std::move(choice));
    HONE_ASSIGN(rows_, context_.store.program_measurements(builds_.program()));
    found_.trials.push_back({default_build()});
    // The default compiles and is called meanwhile.
    if (judges_fusion())
      judge().begin_to_split([this](double share) { return has_time_to_split(share); });
    HONE_TRY(builds_.add({default_build()}));
    watch_ = Stopwatch(context_.clock);
    HONE_TRY(take_fused_base());
    std::vector<Set> singles;
    for (std::size_t i = 0; i < choices_.size(); ++i)
      if (!is_judged(choices_[i])) singles.push_back(on_base(i));
    std::vector<std::size_t> alone;
    for (std::span<const Set> left = singles; !left.empty() && !is_over();) {
      const auto next = left.first(std::min(at_once(), left.size()));
      left = left.subspan(next.size());
      HONE_ASSIGN(const std::vector<std::size_t> made, make({next.begin(), next.end()}));
      HONE_TRY(time_once(made));
      alone.insert(alone.end(), made.begin(), made.end());
    }
    HONE_TRY(race(near_the_fastest(alone)));
    HONE_TRY(climb(kAny));
    if (request_.for_tuning)
      for (const Of base : {kUntiled, kBlocked, kTiled}) HONE_TRY(climb(base));
    for (const provider::FlagChoice& choice : choices_)
      if (std::ranges::none_of(found_.trials, [&](const FlagTrial& trial) {
            return std::ranges::count(trial.choices, choice.name) > 0;
          })) {
        found_.not_tried.push_back(choice);
        found_.not_tried.back().why_not = is_judged(choice)
                                              ? "by its dispatches others promise more"
                                              : "there was no time for it";
      }
    found_.best = set_of(best_[kAny]);
    HONE_ASSIGN(const std::size_t base, base_to_tune());
    found_.bases = {set_of(base)};
    if (is_own(kBlocked) &&
        ratio_of(best_[kBlocked]) < plan::kBlockedMayWin * ratio_of(best_[kUntiled]))
      found_.bases.push_back(set_of(best_[kBlocked]));
    if (best_[kTiled] > 0 && ratio_of(best_[kTiled]) < plan::kTiledMayWin * ratio_of(best_[kAny]))
      found_.bases.push_back(set_of(best_[kTiled]));
    if (!base_.empty()) {
      found_.bases.front() = set_of(fastest_on_base(alone));
      HONE_TRY(add_rival_of_regions());
    } else {
      add_rival_of_layouts();
    }
    return std::move(found_);
  }

 private:
  using Set = std::vector<std::size_t>;  // of choices, in the order they were added
  // Kinds of sets whose best is tracked: any, without data tiling, those of them with blocked
  // weights, and with data tiling.
  enum Of : std::size_t { kAny, kUntiled, kBlocked, kTiled };
  static constexpr std::array kEach{kAny, kUntiled, kBlocked, kTiled};

  // Whether the kind has a best of its own that is not the best untiled set.
  bool is_own(Of which) const { return best_[which] > 0 && best_[which] != best_[kUntiled]; }

  // Trials per batch: as many as keep the compile processes busy. After fusion was judged, no more
  // than the time is enough to call. Results are stored after each batch.
  std::size_t at_once() const {
    const auto most = static_cast<double>(context_.options.compile_jobs);
    const double left = request_.seconds - watch_.seconds();
    const double fit = judges_fusion() ? left / context_.state->deadline.calls(
                                                    plan::kCallsOfTrial, plan::kProcessesOfTrial)
                                       : most;
    return static_cast<std::size_t>(std::max(1.0, std::min(most, fit)));
  }

  // Whether no further trial begins. The first begins if the session has time for it. Where fusion
  // was judged, each has to end in time.
  bool is_over() const {
    if (!context_.state->deadline.has(context_.state->deadline.trial())) return true;
    if (judges_fusion()) return !has_time_for_trial();
    if (compiles_ == 0) return false;
    const double seconds = watch_.seconds();
    return seconds > plan::kFlagSearchOverrun * request_.seconds ||
           (seconds > request_.seconds && compiles_ >= request_.compiles);
  }

  // Runs one round beside the default, so that each trial's result is stored before the next ones
  // compile.
  Status time_once(const std::vector<std::size_t>& trials) {
    const std::vector<std::size_t> running = unsettled(trials);
    return running.empty() ? Status()
                           : take_rounds(running, std::span(plan::kFlagTrialStays).first(1));
  }

  std::vector<std::size_t> unsettled(std::vector<std::size_t> trials) const {
    std::erase_if(trials, [this](std::size_t trial) { return found_.trials[trial].is_settled(); });
    return trials;
  }

  // Returns the trials, in their order, that a first round has not shown to be far slower than the
  // fastest.
  std::vector<std::size_t> near_the_fastest(std::vector<std::size_t> trials) const {
    double fastest = 1;
    for (const std::size_t trial : trials) fastest = std::min(fastest, ratio_of(trial));
    std::erase_if(trials, [&](std::size_t trial) {
      return ratio_of(trial) > plan::kFlagTrialStays[0] * fastest;
    });
    return trials;
  }

  // Returns the best untiled set. If an earlier run tuned the program under another one, and proved
  // it to be faster than that set is untuned, returns the other: a later run must not lose it.
  Result<std::size_t> base_to_tune() const {
    std::size_t base = best_[kUntiled];
    double ratio = ratio_of(base);
    if (std::ranges::none_of(rows_, is_proved_with_spec)) return base;
    for (std::size_t trial = 0; trial < sets_.size(); ++trial) {
      if (!is_of(kUntiled, sets_[trial]) || !found_.trials[trial].failure.empty()) continue;
      HONE_ASSIGN(const double tuned, ratio_once_tuned(found_.trials[trial].flags));
      if (tuned >= ratio) continue;
      base = trial;
      ratio = tuned;
    }
    return base;
  }

  static bool is_proved_with_spec(const store::ProgramMeasurement& row) {
    return row.purpose == store::Purpose::kProof && !row.spec.empty() && row.right == true &&
           row.ratio_high;
  }

  // Upper bound of the ratio that an earlier proof found for the program under `flags` and a spec;
  // infinite without one.
  Result<double> ratio_once_tuned(const std::vector<std::string>& flags) const {
    const Options& options = context_.options;
    double least = std::numeric_limits<double>::infinity();
    for (const std::vector<std::string>& sums : {{}, options.sums.flags}) {
      HONE_ASSIGN(const store::Id build,
                  context_.build_with(joined(joined(options.flags, flags), sums)));
      for (const store::ProgramMeasurement& row : rows_)
        if (is_proved_with_spec(row) && row.build == build && row.device == context_.device)
          least = std::min(least, *row.ratio_high);
    }
    return least;
  }

  FlagSet set_of(std::size_t trial) const {
    if (trial == 0) return {};
    return {found_.trials[trial].label, found_.trials[trial].flags};
  }

  bool is_of(Of which, const Set& set) const {
    using provider::SpecReach;
    const auto has = [&](SpecReach reach) {
      return std::ranges::any_of(set, [&](std::size_t i) { return choices_[i].reach == reach; });
    };
    if (which == kAny) return true;
    if (which == kBlocked && !has(SpecReach::kBlocks)) return false;
    return !has(SpecReach::kNothing) && has(SpecReach::kTiles) == (which == kTiled);
  }

  // Whether fusion is judged by dispatches: on a device where launches take time.
  bool judges_fusion() const { return request_.for_tuning && judges_fusion_on(context_); }

  // Whether a choice is judged by the dispatches that it makes, not by the untuned program's time.
  bool is_judged(const provider::FlagChoice& choice) const {
    return choice.changes != provider::DispatchChange::kNone && !base_.empty();
  }

  // Takes the set of fusing choices that promises most, of those that compile, for the base of what
  // follows, however slow it is untuned. Wrong outputs exclude a set with regions only: hone wrote
  // their operations. Any other wrong dispatch is repaired as it is tuned.
  Status take_fused_base() {
    if (!judges_fusion()) return {};
    report_step("fused dispatches");
    FusionJudge judge = this->judge();
    HONE_ASSIGN(std::vector<FusionSet> sets,
                judge.sets_that_promise([this](double share) { return has_time_to_split(share); }));
    for (FusionSet& fused : std::span(sets).first(std::min(sets.size(), plan::kFusedTries))) {
      judge.begin_to_load(fused);  // its dispatches are tuned if it compiles
      HONE_TRY(has_time_for_trial() ? try_once({fused.choices}) : leave_to_proof(fused.choices));
      const std::size_t tried = *place_of(fused.choices);
      const FlagTrial& trial = found_.trials[tried];
      // A row of an earlier run does not say whether it is wrong or does not compile.
      if (trial.known && !trial.failure.empty()) HONE_TRY(compile({tried}));
      const ProgramBuild* const build = of_module(trial);
      context_.note(
          "flags: {} makes {} launches of {}; near the device's bounds {:.2f} of the time{}",
          trial.label, fused.promise.launches, judge.as_it_is().launches,
          fused.promise.seconds / judge.as_it_is().seconds,
          trial.failure.empty() ? "" : "; untuned: " + trial.failure);
      if (!trial.failure.empty() && (without_regions(fused.choices) != fused.choices ||
                                     build == nullptr || build->unusable != Unusable::kWrong))
        continue;
      base_ = fused.choices;
      break;
    }
    return {};
  }

  FusionJudge judge() const {
    const bool is_long = context_.state->deadline.next_compile() >= plan::kLongSplitSeconds;
    return {context_,       program_, bytes_,
            request_.given, choices_, splits_at_once(context_, is_long)};
  }

  // Whether a split ends within this share of the search's time.
  bool has_time_to_split(double share) const {
    const Deadline& deadline = context_.state->deadline;
    return watch_.seconds() + deadline.next_compile() <= share * request_.seconds &&
           deadline.has(deadline.trial());
  }

  // Whether a trial ends within the search's time.
  bool has_time_for_trial() const {
    return watch_.seconds() + context_.state->deadline.trial() <= request_.seconds;
  }

  // Begins to compile a set that the proof judges: its dispatches are tuned meanwhile.
  Status leave_to_proof(const Set& set) {
    HONE_ASSIGN(const std::size_t trial, enter(set));
    // Outputs that differ are looked at beside those in f32.
    if (computes_narrow(program_))
      context_.compiler.prefetch_compile_in_f32({program_.path, bytes_, context_.options.flags});
    if (!found_.trials[trial].known)
      context_.compiler.prefetch_compile({context_.options.input, bytes_,
                                          joined(context_.options.flags, flags_of(choices_, set))});
    return {};
  }

  Set without_regions(Set set) const {
    std::erase_if(set, [&](std::size_t choice) {
      return choices_[choice].changes == provider::DispatchChange::kRegions;
    });
    return set;
  }

  // Adds the base with its regions in parts, where the budget is enough to tune both. The last
  // proof compares them in the program.
  Status add_rival_of_regions() {
    const Set parts = without_regions(base_);
    if (parts == base_ || context_.options.budget_seconds < plan::kWholeSessionSeconds) return {};
    if (!parts.empty()) HONE_TRY(try_once({parts}));
    const std::size_t rival = parts.empty() ? best_[kUntiled] : *place_of(parts);
    if (found_.trials[rival].failure.empty()) found_.bases.push_back(set_of(rival));
    return {};
  }

  // Adds the best set with another layout where other providers' kernels may replace the compiler's
  // on this host: it makes scalar code of some convolutions there, and vectors of the replacements.
  void add_rival_of_layouts() {
    if (!context_.options.traits().runs_on_host || context_.replacing.empty()) return;
    const auto changes_layout = [&](std::size_t trial) {
      return std::ranges::any_of(sets_[trial], [&](std::size_t choice) {
        return choices_[choice].changes == provider::DispatchChange::kLayouts;
      });
    };
    std::optional<std::size_t> rival;
    for (std::size_t trial = 1; trial < sets_.size(); ++trial)
      if (found_.trials[trial].ratio && is_of(kUntiled, sets_[trial]) && changes_layout(trial) &&
          ratio_of(trial) <
              (rival ? ratio_of(*rival) : plan::kLayoutMayWin * ratio_of(best_[kUntiled])))
        rival = trial;
    if (rival && *rival != best_[kUntiled]) found_.bases.push_back(set_of(*rival));
  }

  // The fused base, with the other choice that makes it fastest if one does.
  std::size_t fastest_on_base(const std::vector<std::size_t>& alone) const {
    std::size_t fastest = *place_of(base_);
    for (const std::size_t trial : alone)
      if (found_.trials[trial].ratio && is_of(kUntiled, sets_[trial]) &&
          ratio_of(trial) < plan::kFlagStep * ratio_of(fastest))
        fastest = trial;
    return fastest;
  }

  // The choice on the fused base, without what it excludes there.
  Set on_base(std::size_t choice) const {
    Set set;
    for (const std::size_t other : base_)
      if (!excludes(choices_[other], choices_[choice])) set.push_back(other);
    set.push_back(choice);
    return set;
  }

  // Compiles the sets that were not tried before, and times each in one round.
  Status try_once(std::vector<Set> sets) {
    std::erase_if(sets, [this](const Set& set) { return was_tried(set); });
    HONE_ASSIGN(const std::vector<std::size_t> made, make(std::move(sets)));
    return time_once(made);
  }

  // Tries the other choices on top of the best of the kind, those that did best alone first, until
  // none helps.
  Status climb(Of which) {
    // Skips a kind without a best of its own: none is faster than the default, or it was climbed
    // already.
    if ((which == kTiled || which == kBlocked) && !is_own(which)) return {};
    while (!is_over()) {
      std::vector<Set> next = additions(which);
      if (next.empty()) return {};
      if (next.size() > plan::kFlagsTogether) next.resize(plan::kFlagsTogether);
      HONE_ASSIGN(const std::vector<std::size_t> made, make(std::move(next)));
      HONE_TRY(race(made));
    }
    return {};
  }

  // Returns untried sets: the best set with one more choice, which replaces the choices that it
  // excludes.
  std::vector<Set> additions(Of which) const {
    const Set& best = sets_[best_[which]];
    std::vector<std::pair<double, Set>> sets;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const double alone = ratio_alone(i);
      if (alone > plan::kHopelessFlagRatio ||
          times_without_effect(i) >= plan::kTriesWithoutEffect || is_judged(choices_[i]))
        continue;
      Set set;
      for (const std::size_t other : best)
        if (!excludes(choices_[other], choices_[i])) set.push_back(other);
      if (std::ranges::count(best, i) > 0) continue;
      set.push_back(i);
      if (!is_of(which, set)) continue;
      if (!was_tried(set)) sets.emplace_back(alone, std::move(set));
    }
    std::ranges::stable_sort(sets, {}, &std::pair<double, Set>::first);
    std::vector<Set> sorted;
    for (auto& [alone, set] : sets) sorted.push_back(std::move(set));
    return sorted;
  }

  // Counts the sets that end with this choice and compile to another set's module.
  std::size_t times_without_effect(std::size_t choice) const {
    std::size_t times = 0;
    for (std::size_t t = 1; t < sets_.size(); ++t)
      if (sets_[t].back() == choice && !found_.trials[t].same_as.empty()) ++times;
    return times;
  }

  // Returns the ratio of the set of this choice alone; when it failed, one so large that the choice
  // is not tried again.
  double ratio_alone(std::size_t choice) const {
    const auto alone = std::ranges::find(sets_, on_base(choice));
    if (alone == sets_.end()) return 1;
    const FlagTrial& trial = found_.trials[static_cast<std::size_t>(alone - sets_.begin())];
    // A choice that does not change the module alone may change it together with another.
    return trial.failure.empty() ? trial.ratio.value_or(1) : 2 * plan::kHopelessFlagRatio;
  }

  static bool excludes(const provider::FlagChoice& a, const provider::FlagChoice& b) {
    if (a.group == b.group) return true;
    for (const std::string& one : a.flags)
      for (const std::string& other : b.flags)
        if (name_in(one) == name_in(other)) return true;
    return false;
  }

  bool was_tried(const Set& set) const { return place_of(set).has_value(); }

  // The trial of these choices, in any order.
  std::optional<std::size_t> place_of(const Set& set) const {
    const auto tried = std::ranges::find_if(
        sets_, [&](const Set& each) { return std::ranges::is_permutation(each, set); });
    if (tried == sets_.end()) return std::nullopt;
    return to_index(tried - sets_.begin());
  }

  // Compiles and checks the sets, or takes known results. Returns the trials' places, in order.
  Result<std::vector<std::size_t>> make(std::vector<Set> sets) {
    std::vector<std::size_t> made, unknown;
    for (Set& set : sets) {
      HONE_ASSIGN(made.emplace_back(), enter(std::move(set)));
      if (!found_.trials[made.back()].known) unknown.push_back(made.back());
    }
    HONE_TRY(compile(unknown));
    for (const std::size_t i : unknown)
      if (FlagTrial& trial = found_.trials[i]; trial.is_settled() && !trial.may_differ)
        HONE_TRY(record(trial));
    return made;
  }

  // Adds a set's trial, with its result if it is known, and returns its place.
  Result<std::size_t> enter(Set set) {
    FlagTrial trial;
    for (const std::size_t choice : set) trial.choices.push_back(choices_[choice].name);
    trial.flags = flags_of(choices_, set);
    trial.label = fmt::format("{}", fmt::join(trial.choices, " + "));
    HONE_ASSIGN(trial.compiler, context_.build_with(joined(context_.options.flags, trial.flags)));
    trial.known = take_known(trial);
    sets_.push_back(std::move(set));
    found_.trials.push_back(std::move(trial));
    return found_.trials.size() - 1;
  }

  Status compile(const std::vector<std::size_t>& trials) {
    if (trials.empty()) return {};
    std::vector<ProgramBuild> builds;
    for (const std::size_t i : trials) builds.push_back({found_.trials[i]});
    report(builds);
    HONE_TRY(builds_.add_each(std::move(builds)));
    compiles_ += trials.size();
    for (const std::size_t i : trials) {
      FlagTrial& trial = found_.trials[i];
      const ProgramBuild& made = *builds_.find(trial.id());
      // A copy of a wrong build is as wrong.
      if (made.same_as && of_module(trial)->usable())
        trial.same_as = of_module(trial)->label;
      else
        trial.failure = of_module(trial)->failure;
      trial.may_differ = made.may_differ;
    }
    return {};
  }

  // Takes the result of an earlier run. Its ratio is to that run's default, timed in the same
  // rounds.
  bool take_known(FlagTrial& trial) const {
    if (context_.options.bit_equal) return false;  // which no row says
    for (const store::ProgramMeasurement& row : rows_) {
      if (row.purpose != store::Purpose::kFlags || row.build != trial.compiler ||
          row.device != context_.device || row.machine != called_)
        continue;
      trial.known = true;
      trial.ratio = row.ratio;
      trial.rounds = row.timing.samples.size();
      if (row.ratio) continue;
      trial.same_as = row.same_as;
      if (row.same_as.empty()) trial.failure = row.verdict;
    }
    return trial.known;
  }

  Status record(FlagTrial& trial) {
    store::ProgramMeasurement row;
    row.id = trial.row;
    row.program = builds_.program();
    row.build = trial.compiler;
    row.device = context_.device;
    row.purpose = store::Purpose::kFlags;
    row.variant = trial.label;
    row.same_as = trial.same_as;
    row.machine = called_;
    row.ratio = trial.ratio;
    if (trial.ratio) {
      row.timing = trial::timing_of(trial.seconds);
      row.right = true;
      // Choosing rounds prove nothing.
      row.verdict =
          fmt::format("screened in {} round{}", trial.rounds, trial.rounds == 1 ? "" : "s");
    } else {
      row.verdict = trial.same_as.empty()
                        ? trial.failure
                        : fmt::format("unchanged (same module as {})", trial.same_as);
    }
    HONE_ASSIGN(trial.row, context_.store.record(row));
    return {};
  }

  // Times the trials beside the default and the best so far. The fastest becomes the best.
  Status race(const std::vector<std::size_t>& trials) {
    std::vector<std::size_t> running = unsettled(trials);
    if (!running.empty()) {
      for (const std::size_t best : best_)
        if (best > 0 && std::ranges::count(running, best) == 0) running.push_back(best);
      HONE_TRY(take_rounds(running, plan::kFlagTrialStays));
    }
    const auto was_best = best_;
    do {
      for (const Of which : kEach) {
        best_[which] = best_of(which, trials, was_best[which]);
        HONE_TRY(bring_back(best_[which]));
      }
    } while (!std::ranges::all_of(best_, [&](std::size_t trial) { return can_run(trial); }));
    for (const std::size_t trial : running)
      if (!is_a_best(trial)) builds_.discard(found_.trials[trial].id());
    return {};
  }

  // Compiles a best set that an earlier run found, so that it runs beside new trials. If it no
  // longer compiles or runs, it loses its ratio.
  Status bring_back(std::size_t trial) {
    FlagTrial& best = found_.trials[trial];
    if (builds_.find(best.id()) != nullptr) return {};
    HONE_TRY(compile({trial}));
    if (!can_run(trial)) best.ratio.reset();
    return {};
  }

  // The build whose module the trial has, its own or an equal one; null if it was not made.
  const ProgramBuild* of_module(const FlagTrial& trial) const {
    const ProgramBuild* const build = builds_.find(trial.id());
    return build != nullptr && build->same_as ? builds_.find(*build->same_as) : build;
  }

  bool can_run(std::size_t trial) const {
    const ProgramBuild* build = builds_.find(found_.trials[trial].id());
    return build != nullptr && build->usable();
  }

  bool is_a_best(std::size_t trial) const { return std::ranges::count(best_, trial) > 0; }

  std::size_t best_of(Of which, const std::vector<std::size_t>& trials, std::size_t before) const {
    std::size_t best = before;
    for (const std::size_t trial : trials) {
      const std::optional<double> ratio = found_.trials[trial].ratio;
      if (ratio && is_of(which, sets_[trial]) && *ratio < plan::kFlagStep * ratio_of(before) &&
          *ratio < ratio_of(best))
        best = trial;
    }
    return best;
  }

  double ratio_of(std::size_t trial) const { return found_.trials[trial].ratio.value_or(1); }

  // Times the trials in `running`, the best included, in one round for each of `all_stay`. After
  // each round only those near the fastest stay.
  Status take_rounds(std::vector<std::size_t> running, std::span<const double> all_stay) {
    const std::vector<std::size_t> all = running;
    std::map<std::size_t, std::vector<double>> ratios, times;
    const Stopwatch watch(context_.clock);
    for (const double stays : all_stay) {
      const bool is_known = std::ranges::all_of(
          running, [&](std::size_t trial) { return found_.trials[trial].ratio.has_value(); });
      if (is_known && is_over() && watch.seconds() > plan::kFlagRoundsShare * request_.seconds)
        break;
      std::vector<BuildId> ids{default_build().id()};
      for (const std::size_t trial : running) ids.push_back(found_.trials[trial].id());
      HONE_ASSIGN(const std::vector<double> seconds,
                  builds_.sample(ids, context_.options.seed + rounds_++));
      found_.trials.front().seconds.push_back(seconds.front());
      double fastest = 1;
      for (std::size_t i = 0; i < running.size(); ++i) {
        FlagTrial& trial = found_.trials[running[i]];
        trial.seconds.push_back(seconds[i + 1]);
        times[running[i]].push_back(seconds[i + 1]);
        ratios[running[i]].push_back(seconds[i + 1] / seconds.front());
        trial.ratio = measure::median(ratios[running[i]]);
        trial.rounds = trial.seconds.size();
        fastest = std::min(fastest, *trial.ratio);
        // The first time is stored at once, lest a kill lose it; the last row counts.
        if (trial.rounds == 1) HONE_TRY(record(trial));
      }
      std::erase_if(running, [&](std::size_t trial) {
        return *found_.trials[trial].ratio > stays * fastest && !is_a_best(trial);
      });
      if (running.empty()) break;
    }
    if (times.empty()) return {};
    judge_by_the_fastest(running, times);
    FlagTrial& base = found_.trials.front();
    base.ratio = 1;
    base.rounds = base.seconds.size();
    for (const std::size_t trial : all)
      if (!is_a_best(trial)) HONE_TRY(record(found_.trials[trial]));
    return {};
  }

  // Corrects the ratios of trials that left early. These share few rounds with the default: a
  // disturbance of the default there would make them seem faster than trials that stayed. So their
  // ratio is taken by the fastest of those that stayed, beside which they were slower. `times`: of
  // each trial in its rounds.
  void judge_by_the_fastest(const std::vector<std::size_t>& stayed,
                            const std::map<std::size_t, std::vector<double>>& times) {
    if (stayed.empty()) return;
    const std::size_t fastest = *std::ranges::min_element(
        stayed, {}, [this](std::size_t trial) { return ratio_of(trial); });
    const std::vector<double>& best = times.at(fastest);
    for (const auto& [trial, seconds] : times) {
      if (std::ranges::count(stayed, trial) > 0) continue;
      std::vector<double> beside;
      for (std::size_t i = 0; i < seconds.size(); ++i) beside.push_back(seconds[i] / best[i]);
      found_.trials[trial].ratio = ratio_of(fastest) * measure::median(beside);
    }
  }

  void report(const std::vector<ProgramBuild>& compiling) {
    std::string step = compiling.front().label;
    if (compiling.size() > 1) step += fmt::format(" and {} more", compiling.size() - 1);
    report_step(step);
  }

  void report_step(std::string_view step) {
    Progress progress;
    progress.step = fmt::format("flags: {}", step);
    progress.tried = compiles_;
    progress.planned = std::max(request_.compiles, compiles_);
    if (const std::size_t best = best_[kAny]; best > 0)
      progress.best_speedup = 1 / *found_.trials[best].ratio;
    context_.observer.progress(progress);
  }

  Context& context_;
  const problem::Program& program_;
  const std::string& bytes_;  // of its file
  const FlagSearchRequest& request_;
  BuildBench& builds_;
  std::string called_;
  Stopwatch watch_;
  std::vector<provider::FlagChoice> choices_;
  Set base_;  // fusing choices that the others are tried on; may be empty
  FoundFlags found_;
  std::vector<store::ProgramMeasurement> rows_;   // of earlier runs
  std::vector<Set> sets_{{}};                     // of each trial
  std::array<std::size_t, kEach.size()> best_{};  // trials
  std::size_t compiles_ = 0;
  std::uint64_t rounds_ = 0;
};

// Returns JSON for store::ProgramMeasurement::machine.
std::string call_of(const Context& context, const problem::Function& function) {
  nlohmann::json given = nlohmann::json::array(), types = nlohmann::json::array();
  for (const GivenArgument& argument : context.options.inputs) given.push_back(argument.name);
  for (const problem::TensorType& type : function.inputs) types.push_back(problem::to_string(type));
  return nlohmann::json{{"function", function.name},
                        {"types", types},
                        {"given", given},
                        {"runtime_flags", context.options.runtime_flags},
                        // New verification rules may find a set right that was wrong before, or the
                        // reverse.
                        {"rules", measure::kVerificationRules}}
      .dump();
}

}  // namespace

std::optional<double> FoundFlags::speedup(const FlagSet& set) const {
  const auto* const found = find_by(trials, set.flags, &FlagTrial::flags);
  if (found == nullptr || !found->ratio) return std::nullopt;
  return 1 / *found->ratio;
}

Result<std::vector<provider::FlagChoice>> choices_with_files(const Context& context,
                                                             const problem::Program& program) {
  const Options& options = context.options;
  std::vector<provider::FlagChoice> choices =
      context.programs->flag_choices(program, options.flags, options.out);
  for (const provider::FlagChoice& choice : choices)
    if (choice.why_not.empty())
      for (const provider::FlagFile& file : choice.files)
        HONE_TRY(write_file_atomically(file.path, file.text));
  return choices;
}

Status begin_to_judge_fusion(Context& context, const std::string& bytes,
                             const problem::GivenSizes& given) {
  if (!judges_fusion_on(context)) return {};
  const auto span = context.spend(trial::Activity::kSplit);
  const Stopwatch watch(context.clock);
  const Result<problem::Program> unfused =
      context.compiler.load_unfused(programs_to_load(context, bytes, {}, given).tuned);
  if (!unfused) return {};
  const double split_seconds = plan::kSplitTimesUnfused * watch.seconds();
  HONE_ASSIGN(std::vector<provider::FlagChoice> choices, choices_with_files(context, *unfused));
  std::erase_if(choices, [](const provider::FlagChoice& each) { return !each.why_not.empty(); });
  FusionJudge(context, *unfused, bytes, given, choices, splits_at_once(context, /*crowded=*/true))
      .begin_to_split([&](double share) {
        return split_seconds <= share * plan::kFlagShare * context.options.budget_seconds;
      });
  return {};
}

Result<FoundFlags> search_flags(Context& context, const problem::Program& program,
                                const std::string& bytes, const problem::Function& function,
                                const FlagSearchRequest& request) {
  const auto span = context.spend(trial::Activity::kProgram);
  HONE_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("hone-flags-"));
  HONE_ASSIGN(BuildBench made,
              BuildBench::create(context, program, bytes, function, folder.path()));
  ProgramBench bench{std::move(folder), std::move(made)};
  HONE_ASSIGN(std::vector<provider::FlagChoice> choices, choices_with_files(context, program));
  HONE_ASSIGN(FoundFlags found,
              FlagSearch(context, program, bytes, request, bench.builds, call_of(context, function))
                  .run(std::move(choices)));
  if (request.prove && !found.best.flags.empty()) {
    const VerifiedBuild best{Build{.label = found.best.name, .flags = found.best.flags}};
    HONE_ASSIGN(const ProvingRounds rounds, prove_build(context, bench, best));
    HONE_ASSIGN(found.verdict, verdict_of(std::vector<ProvingRounds>{rounds}));
    HONE_TRY(context.store.log_event("flags", json_of(*found.verdict, best).dump()));
  }
  return found;
}

}  // namespace hone::tune
