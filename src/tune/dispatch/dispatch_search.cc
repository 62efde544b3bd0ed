#include "tune/dispatch/dispatch_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "space/configuration.h"
#include "tune/dispatch/dispatch_weight.h"
#include "tune/dispatch/finalists.h"
#include "tune/dispatch/prepared_work.h"

namespace hone::tune {
namespace {

// Whether the failure counts as a wrong kernel. Compile errors and excessive memory say nothing
// about other configurations.
bool is_no_right_kernel(provider::FailureKind kind) {
  using enum provider::FailureKind;
  return kind == kWrong || kind == kKernelCrash || kind == kKernelTimeout;
}
// Returns a failure's cause without numbers, which makes failures of one kind equal.
std::string cause_of(const provider::Failure& failure) {
  return fmt::format("{}: {}", provider::name_of(failure.kind),
                     without_numbers(hone::reason_of(failure.message)));
}

// Returns what the store has compiled of the provider; nullopt: the space is searched.
Result<std::optional<std::vector<space::Configuration>>> stored_configurations(
    Context& context, const problem::Dispatch& dispatch, const provider::Provider& provider,
    const space::Space& space) {
  const Options& options = context.options;
  // The code of those that the user gave by hand is found one by one.
  if (!options.takes_stored || !options.configurations.empty()) return std::nullopt;
  HONE_ASSIGN(std::vector<space::Configuration> compiled,
              compiled_configurations(context, dispatch, provider.name(), space));
  if (compiled.empty() && !options.measures_only) return std::nullopt;
  return compiled;
}

}  // namespace

Status Contender::begin(double seconds) {
  const Options& options = context_.options;
  const std::size_t most = options.candidates.value_or(SIZE_MAX);
  if (compiled_) {
    note_.strategy = "compiled before";
    note_.planned = std::min(most, compiled_->size());
    return {};
  }
  if (!options.configurations.empty()) {
    note_.strategy = "given";
    note_.planned = std::min(most, options.configurations.size());
    return {};
  }
  note_.planned = static_cast<std::size_t>(std::min<std::uint64_t>(most, space_.count().value));
  note_.strategy = options.strategy;
  search::Prior prior = provider_.prior(dispatch_, space_);
  if (options.strategy == "auto") choose_strategy(seconds, prior != nullptr);
  HONE_ASSIGN(strategy_,
              search::make_strategy(note_.strategy, space_, options.seed, std::move(prior)));
  return {};
}

void Contender::choose_strategy(double seconds, bool has_prior) {
  const Options& options = context_.options;
  const bool compiles_ahead = !options.traits().compiling_disturbs;
  const double each =
      compiles_ahead ? plan::kCandidateSecondsBesideCompiles : plan::kCandidateSeconds;
  const auto affordable = static_cast<std::size_t>(std::max(0.0, seconds) / each);
  const search::StrategyChoice choice = search::choose_strategy(
      {space_.count(), std::min(note_.planned, affordable), has_prior, compiles_ahead});
  note_.strategy = choice.strategy;
  note_.why = choice.why;
  stop_rule_.emplace(context_.state->noise);
  context_.note("{}: strategy {}: {}", dispatch_.name, note_.strategy, note_.why);
}

Result<std::vector<space::Configuration>> Contender::propose(std::size_t count) {
  std::vector<space::Configuration> proposals;
  for (std::size_t i = note_.tried; compiled_ && i < note_.planned && proposals.size() < count; ++i)
    proposals.push_back((*compiled_)[i]);
  if (strategy_ && !noise_.empty()) strategy_->note_noise(measure::median(noise_));
  if (strategy_) proposals = strategy_->ask(count);
  if (stop_rule_ && !proposals.empty() &&
      stop_rule_->stops(note_.tried, strategy_->expected_gain())) {
    note_.stopped = stop_rule_->reason();
    context_.note("{}: stopped after {} configurations: {}", dispatch_.name, note_.tried,
                  note_.stopped);
    return std::vector<space::Configuration>();
  }
  const std::vector<std::string>& given = context_.options.configurations;
  for (std::size_t i = note_.tried; !compiled_ && i < given.size() && proposals.size() < count;
       ++i) {
    HONE_ASSIGN(space::Configuration configuration, space::parse_configuration(space_, given[i]));
    proposals.push_back(std::move(configuration));
  }
  note_.tried += proposals.size();
  return proposals;
}

void Contender::take(const space::Configuration& configuration, const Trial& trial) {
  ++told_;
  if (trial.noise) noise_.push_back(*trial.noise);
  if (strategy_)
    strategy_->tell(configuration, {trial.ratio, trial.failure ? cause_of(*trial.failure) : ""});
  if (trial.state == trial::TrialState::kMeasured) {
    ++right_;
    best_ratio_ = std::min(best_ratio_, *trial.ratio);
    return;
  }
  if (!trial.failure) return;
  failures_.add(provider::name_of(trial.failure->kind), trial.failure->message);
  if (!is_no_right_kernel(trial.failure->kind)) return;
  ++wrong_;
  last_failure_ = trial.failure->message;
}

bool Contender::learns() const {
  return strategy_ && search::learns(note_.strategy);
}

bool Contender::is_hopeless() const {
  return right_ == 0 && wrong_ >= plan::kHopelessWrong;
}

std::string Contender::why_hopeless() const {
  return fmt::format("{}: none of {}'s {} kernels is right, and no more are tried; the last: {}",
                     dispatch_.name, provider_.name(), wrong_, last_failure_);
}

Result<std::deque<Contender>> contenders_for(Context& context, const problem::Dispatch& dispatch) {
  std::deque<Contender> contenders;
  const auto add = [&](const provider::Provider& provider, space::Space space) -> Status {
    HONE_ASSIGN(auto stored, stored_configurations(context, dispatch, provider, space));
    contenders.emplace_back(context, dispatch, provider, std::move(space), std::move(stored));
    return {};
  };
  if (context.options.configurations.empty())
    for (const provider::Provider* const each : context.replacing) {
      if (!each->why_no_space(dispatch).empty()) continue;
      HONE_ASSIGN(space::Space theirs, each->space_of(dispatch));
      HONE_TRY(add(*each, std::move(theirs)));
    }
  // Even without a space, the session's own provider supplies the default to compare with.
  if (contenders.empty() || context.provider.why_no_space(dispatch).empty()) {
    HONE_ASSIGN(const space::Space stated, context.provider.space_of(dispatch));
    HONE_ASSIGN(space::Space space, stated.relax(context.options.relax));
    HONE_TRY(add(context.provider, std::move(space)));
  }
  return contenders;
}

Trials DispatchSearch::trials_of(Round& round) {
  Trials trials;
  for (Proposal& each : round) trials.push_back(&each.trial);
  return trials;
}

Status DispatchSearch::begin() {
  HONE_TRY(begin_turn());
  const Options& options = context_.options;
  if (options.traits().compiling_disturbs) return {};
  HONE_TRY(bench_.compile_default());
  const std::size_t first = std::max(plan::kFewestBegun, in_time(seconds_to_search()));
  HONE_ASSIGN(const std::vector<space::Configuration> proposals,
              now_->propose(std::min({first, options.compile_ahead, now_->left()})));
  return begin_round(proposals);
}

Status DispatchSearch::begin_turn() {
  const auto left = static_cast<double>(
      std::ranges::count_if(contenders_, [](const Contender& each) { return !each.has_begun(); }));
  return now_->begin(seconds_to_search() / left);
}

void DispatchSearch::take_turn(const Share& share, const Stopwatch& whole) {
  share_ = share;
  whole_ = whole;
}

Status DispatchSearch::run() {
  clock_ = Stopwatch(context_.clock);
  const double seconds = seconds_to_search();
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (is_repaired()) break;
    now_ = &contenders_[i];
    HONE_ASSIGN(const bool hopeless, cannot_win());
    if (hopeless) continue;
    // Redistributes time that a contender leaves unused to the later ones.
    const auto left = static_cast<double>(contenders_.size() - i);
    const double part =
        std::max(least_search_seconds(traits()), (seconds - clock_.seconds()) / left);
    if (i > 0) HONE_TRY(begin_turn());
    HONE_TRY(search(clock_.seconds() + part));
  }
  return {};
}

Result<bool> DispatchSearch::cannot_win() {
  if (tried_.empty()) return false;
  const double found = best_ratio_ * bench_.default_seconds();
  const double least =
      context_.state->peak ? now_->provider().least_seconds(dispatch_, *context_.state->peak) : 0;
  const bool is_default_far = &now_->provider() == &context_.provider && share_.least_right <= 1 &&
                              best_ratio_ < plan::kBeyondDefault;
  if (least * plan::kBeyondHope < found && !is_default_far) return false;
  const std::string why =
      is_default_far
          ? fmt::format(
                "{}: {}'s default takes {:.1f} times as long as what was found "
                "(--provider {} searches it)",
                dispatch_.name, now_->provider().name(), 1 / best_ratio_, now_->provider().name())
          : fmt::format("{}: of {} no kernel takes less than {}, and one of {} was found",
                        dispatch_.name, now_->provider().name(), format_duration(least),
                        format_duration(found));
  context_.observer.note("not searched: " + why);
  HONE_TRY(context_.store.log_event("not searched", why));
  return true;
}

Status DispatchSearch::search(double seconds) {
  Contender& now = *now_;
  const double at_most = seconds + std::max(plan::kMostSecondsLonger, seconds - clock_.seconds());
  const auto has_too_few = [&] {
    return right() < share_.least_right && clock_.seconds() < at_most;
  };
  const auto end = [&] {
    if (has_too_few()) return at_most;
    const bool waits_for_first =
        !traits().compiling_disturbs && now.told() < plan::kFewestBegun && outstanding() > 0;
    return waits_for_first ? std::min(at_most, seconds + plan::kMostSecondsForFirst) : seconds;
  };
  const auto goes_on = [&] {
    if (is_repaired() && now.tried() >= share_.enough) return false;
    return now.tried() == 0 || clock_.seconds() < end();
  };
  const auto is_given_up = [&] { return is_hopeless() || is_outdone(); };
  // A repair mostly needs no more than what was begun.
  if (share_.enough > 0) HONE_TRY(finish_compiling(0, patience(false)));
  while (now.left() > 0 && !is_given_up()) {
    HONE_TRY(pick_up());
    if (!goes_on()) break;
    report(Stage::kSearch, seconds - clock_.seconds());
    // Beside those that may still prove right, more compiles would only delay them.
    const bool begins_longer = !traits().compiling_disturbs && outstanding() == 0;
    const std::size_t room = round_size(begins_longer ? end() : seconds);
    std::vector<space::Configuration> proposals;
    if (room > 0) {
      HONE_ASSIGN(proposals, now.propose(std::min(room, now.left())));
    }
    if (now.stopped()) break;
    if (!proposals.empty()) {
      HONE_TRY(begin_round(proposals));
      HONE_TRY(finish_compiling(rounds_ahead(), patience(false)));
    } else if (!compiling_.empty()) {
      HONE_TRY(finish_compiling(0, patience(false)));  // what is told then may be worth refining
    } else if (!put_aside_.empty()) {
      HONE_TRY(wait_for_others(end() - clock_.seconds()));
    } else {
      break;
    }
  }
  if (is_given_up()) return give_up();
  HONE_TRY(finish_compiling(0, patience(!goes_on())));
  while (!put_aside_.empty() && clock_.seconds() < end()) {
    HONE_TRY(pick_up());
    if (!put_aside_.empty()) HONE_TRY(wait_for_others(end() - clock_.seconds()));
  }
  HONE_TRY(context_.store.log_event("search", nlohmann::json{{"dispatch", dispatch_.name},
                                                             {"provider", now.provider().name()},
                                                             {"search", now.note()}}
                                                  .dump()));
  report(Stage::kSearch, 0);
  if (const std::string why = now.failures(); !why.empty())
    context_.note("{}: {}", dispatch_.name, why);
  return cancel_compiles();
}

std::size_t DispatchSearch::right() const {
  std::size_t all = 0;
  for (const Contender& each : contenders_) all += each.right();
  return all;
}

bool DispatchSearch::is_hopeless() const {
  return &now_->provider() != &context_.provider && now_->is_hopeless();
}

double DispatchSearch::best_of_others() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Contender& each : contenders_)
    if (&each != now_) best = std::min(best, each.best_ratio());
  return best;
}

bool DispatchSearch::is_outdone() const {
  const double best = best_of_others();
  return std::isfinite(best) && now_->told() >= plan::kOutdoneTries &&
         right() >= share_.least_right && now_->best_ratio() >= plan::kOutdoneRatio * best;
}

Status DispatchSearch::give_up() {
  const std::string why =
      is_hopeless() ? now_->why_hopeless()
                    : fmt::format(
                          "{}: the best of {}'s {} kernels takes {:.1f} times as long as another "
                          "provider's, and no more are tried",
                          dispatch_.name, now_->provider().name(), now_->told(),
                          now_->best_ratio() / best_of_others());
  context_.observer.note(why);
  HONE_TRY(context_.store.log_event("search given up", why));
  std::erase_if(put_aside_, [this](const Proposal& each) { return each.of == now_; });
  return cancel_compiles();
}

Status DispatchSearch::cancel_compiles() {
  HONE_TRY(bench_.trials().cancel_compiles());
  compiling_.clear();
  std::erase_if(put_aside_, [](const Proposal& each) {
    return each.trial.state == trial::TrialState::kCompiling;
  });
  return {};
}

std::size_t DispatchSearch::in_time(double seconds) {
  return static_cast<std::size_t>(std::max(0.0, seconds) / plan::kCandidateSecondsBesideCompiles);
}

std::size_t DispatchSearch::outstanding() const {
  std::size_t all = 0;
  for (const Round& round : compiling_) all += round.size();
  return all + put_aside_.size();
}

// Starts with few, then takes as many as fit into a share of the time at the average time so far.
// Beside compiles, takes as many as compile until `seconds`: others would only delay the next
// dispatch. In the last 25 of the UNet's searches such others cost 0.5 s each, of 2 (H200).
std::size_t DispatchSearch::round_size(double seconds) const {
  if (!traits().compiling_disturbs) {
    const double left = seconds - clock_.seconds();
    if (now_->tried() >= plan::kFewestBegun && left < bench_.trials().seconds_per_compile())
      return 0;
    const std::size_t begun = outstanding(), fewest = now_->tried() == 0 ? plan::kFewestBegun : 1;
    const std::size_t most = std::max(in_time(left), fewest);
    if (begun > 0 && most < begun + plan::kFewestInRound) return 0;
    return std::min(most - begun, context_.options.compile_ahead);
  }
  const std::size_t tried = tried_configurations();
  if (tried == 0) return plan::kFewestInRound;
  const double each = clock_.seconds() / static_cast<double>(tried);
  const double time = std::min(seconds * plan::kRoundShare, seconds - clock_.seconds());
  return static_cast<std::size_t>(std::clamp(time / each, static_cast<double>(plan::kFewestInRound),
                                             static_cast<double>(plan::kMostInRound)));
}

// Rounds that compile ahead: 0 where compiling disturbs measuring, 2 if the search does not learn
// from outcomes, else 1.
std::size_t DispatchSearch::rounds_ahead() const {
  return traits().compiling_disturbs ? 0 : now_->learns() ? 1 : 2;
}

Status DispatchSearch::begin_round(const std::vector<space::Configuration>& proposals) {
  Round round;
  const provider::Provider& provider = now_->provider();
  const space::Space& space = now_->space();
  HONE_TRY(context_.store.transaction([&]() -> Status {
    for (const space::Configuration& configuration : proposals) {
      store::CandidateRow row = bench_.candidate_row(space::to_json(space, configuration).dump());
      row.provider = provider.name();
      if (context_.options.configurations.empty()) row.constraint_set = provider.constraint_set();
      Trial trial;
      HONE_ASSIGN(trial.candidate, context_.store.add_candidate(row));
      HONE_ASSIGN(trial.payload, provider.payload_of(dispatch_, space, configuration));
      trial.suspicions = [this, &provider] { return provider.suspicions(dispatch_); };
      round.push_back({now_, configuration, std::move(trial)});
    }
    return {};
  }));
  HONE_TRY(bench_.trials().begin(trials_of(round)));
  compiling_.push_back(std::move(round));
  return {};
}

// The wait is limited where possible: some configurations compile 100x as long as others. Once the
// search is over and a kernel is right, it ends.
double DispatchSearch::patience(bool is_over) const {
  if (traits().compiling_disturbs) return -1;
  return is_over && right() > 0 ? 0 : plan::kCompilePatienceSeconds;
}

Status DispatchSearch::finish_compiling(std::size_t most, double patience) {
  while (compiling_.size() > most) {
    Round round = std::move(compiling_.front());
    compiling_.pop_front();
    HONE_TRY(finish(std::move(round), patience));
  }
  return {};
}

Status DispatchSearch::finish(Round round, double patience) {
  HONE_TRY(bench_.finish(trials_of(round), patience));
  for (Proposal& each : round) {
    if (each.trial.is_pending()) {
      put_aside_.push_back(std::move(each));
      continue;
    }
    each.of->take(each.configuration, each.trial);
    if (each.trial.state != trial::TrialState::kMeasured) {
      ++failed_;
      continue;
    }
    best_ratio_ = std::min(best_ratio_, *each.trial.ratio);
    tried_.emplace(each.trial.candidate, std::move(each));
  }
  return {};
}

// Looks again at trials that another tuner on the store held. Its results are in the store now,
// or it is gone and this tuner takes over.
Status DispatchSearch::pick_up() {
  // Skip trials that still compile here: there may be hundreds, and each costs a query.
  const auto ready = std::partition(
      put_aside_.begin(), put_aside_.end(),
      [this](const Proposal& each) { return bench_.trials().is_compiling(each.trial.candidate); });
  Round aside(std::make_move_iterator(ready), std::make_move_iterator(put_aside_.end()));
  put_aside_.erase(ready, put_aside_.end());
  if (aside.empty()) return {};
  HONE_TRY(bench_.trials().begin(trials_of(aside)));
  return finish(std::move(aside), traits().compiling_disturbs ? -1 : 0);
}

// Waits for a trial that was put aside: its compile, or another tuner.
Status DispatchSearch::wait_for_others(double seconds) {
  if (bench_.trials().is_compiling())
    return bench_.trials().wait_for_compiles(std::max(0.0, seconds)).map([](std::size_t) {});
  return context_.leases->wait();
}

double DispatchSearch::for_finalists() const {
  return finalist_seconds(is_repair() ? 0 : share_.seconds, traits().one_batch_tells);
}

double DispatchSearch::for_baselines() const {
  return context_.options.baselines
             ? std::min(plan::kMostBaselineSeconds, share_.seconds * plan::kBaselineShare)
             : 0;
}

bool DispatchSearch::has_time_for_libraries() const {
  const bool is_one_of_many = context_.programs != nullptr && share_.count > 1;
  return !is_one_of_many || for_baselines() >= plan::kLeastBaselineSeconds;
}

// Seconds left to search: the dispatch's share, less the time spent and the steps after the search.
double DispatchSearch::seconds_to_search() const {
  const double race = race_seconds(for_finalists(), traits().one_batch_tells);
  return std::max(least_search_seconds(traits()), share_.seconds - whole_.seconds() - race -
                                                      for_baselines() - shipping_seconds(context_));
}

std::size_t DispatchSearch::tried_configurations() const {
  std::size_t all = 0;
  for (const Contender& each : contenders_) all += each.tried();
  return all;
}

void DispatchSearch::report(Stage stage, double seconds_left) {
  const bool searching = stage == Stage::kSearch;
  const std::size_t to_try = searching ? now_->left() : 0;
  const std::size_t tried = tried_configurations();
  const auto done = static_cast<double>(tried);
  const DispatchTime left{.searching = searching ? seconds_left : 0,
                          .per_candidate = searching && done > 0 ? clock_.seconds() / done : 0,
                          .candidates = static_cast<double>(to_try),
                          .comparing = searching ? for_finalists() : seconds_left,
                          .after = share_.after};
  context_.observer.progress({.dispatch = dispatch_.name,
                              .dispatch_index = share_.index,
                              .dispatch_count = share_.count,
                              .stage = stage,
                              .step = searching ? "search" : "finalists",
                              .tried = tried,
                              .planned = tried + to_try,
                              .failed = failed_,
                              .best_speedup = 1 / best_ratio_,
                              .seconds_left = tune::seconds_left(left)});
}

double seconds_left(const DispatchTime& time) {
  double searching = std::max(0.0, time.searching);
  if (time.per_candidate > 0) searching = std::min(searching, time.per_candidate * time.candidates);
  return searching + std::max(0.0, time.comparing) + std::max(0.0, time.after);
}

void to_json(nlohmann::json& json, const SearchNote& note) {
  json = {{"strategy", note.strategy},
          {"why", note.why},
          {"tried", note.tried},
          {"planned", note.planned},
          {"stopped", note.stopped}};
}

}  // namespace hone::tune
