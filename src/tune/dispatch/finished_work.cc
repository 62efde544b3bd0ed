#include "tune/dispatch/finished_work.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/ranges.h"
#include "tune/dispatch/own_shard.h"

namespace hone::tune {
namespace {

// Returns runs of the same task. Work finished with a longer budget also serves a shorter run.
std::vector<store::Run> runs_like(const std::vector<store::Run>& runs, const store::Run& like,
                                  store::Id program) {
  std::vector<store::Run> alike;
  for (const store::Run& run : runs)
    if (run.program == program && run.task == like.task) alike.push_back(run);
  return alike;
}

std::vector<store::Id> unfinished_runs(const std::vector<store::Run>& alike,
                                       const store::Run& like) {
  std::vector<store::Id> unfinished;
  for (const store::Run& run : alike) {
    if (run.state != store::RunState::kFinished)
      unfinished.push_back(run.id);
    else if (run.command == like.command)
      unfinished.clear();
  }
  return unfinished;
}

// Decodes a stored row; nullopt if this version does not understand it.
std::optional<TunedDispatch> tuned_from(const store::DispatchResult& row) {
  TunedDispatch tuned;
  tuned.id = row.dispatch;
  if (row.payload) tuned.payload = provider::Payload{parse_json(*row.payload), row.replacing};
  tuned.code = row.code;
  tuned.default_is_wrong = row.default_is_wrong;
  for (const store::NearTieRow& tie : row.near_ties)
    tuned.near_ties.push_back({tie.candidate, {parse_json(tie.payload), tie.replacing}});
  if (row.launch) {
    auto launch = decode_json<problem::Launch>(parse_json(*row.launch));
    if (!launch) return std::nullopt;
    tuned.launch = std::move(*launch);
  }
  if (row.accuracy) {
    auto accuracy = decode_json<measure::AccuracyBeside>(parse_json(*row.accuracy));
    if (!accuracy) return std::nullopt;
    tuned.accuracy = std::move(*accuracy);
  }
  return tuned;
}

store::DispatchResult row_of(const TunedDispatch& tuned, double budget) {
  store::DispatchResult row;
  row.dispatch = tuned.id;
  if (tuned.payload) {
    row.payload = tuned.payload->json.dump();
    row.replacing = tuned.payload->replacing;
  }
  row.code = tuned.code;
  row.default_is_wrong = tuned.default_is_wrong;
  if (tuned.replaces() && tuned.launch) row.launch = nlohmann::json(*tuned.launch).dump();
  if (tuned.accuracy) row.accuracy = nlohmann::json(*tuned.accuracy).dump();
  row.budget = budget;
  for (const NearTie& tie : tuned.near_ties)
    row.near_ties.push_back({tie.candidate, tie.payload.json.dump(), tie.payload.replacing});
  return row;
}

Status keep_finished(Context& context, TunedDispatch& tuned) {
  store::SelectionRow& selection = tuned.selection;
  selection.dispatch = tuned.id;
  selection.build = context.baseline.build;
  selection.device = context.device;
  return context.store.transaction([&]() -> Status {
    HONE_TRY(context.store.record(selection));
    return context.store.record(row_of(tuned, context.options.budget_seconds)).map([](store::Id) {
    });
  });
}

store::Flags row_of(const FlagSet& set) {
  return {set.name, nlohmann::json(set.flags).dump()};
}

std::optional<FlagSet> flag_set_from(const store::Flags& row) {
  auto flags = decode_json<std::vector<std::string>>(parse_json(row.flags));
  if (!flags) return std::nullopt;
  return FlagSet{row.label, std::move(*flags)};
}

// Decodes a stored row; nullopt if this version does not understand it.
std::optional<ChosenFlags> chosen_from(const store::FlagChoiceRow& row) {
  std::optional<FlagSet> best = flag_set_from(row.best);
  if (!best || row.bases.empty()) return std::nullopt;
  ChosenFlags chosen{.best = std::move(*best), .bases = {}, .tried = {}};
  for (const store::Flags& each : row.bases) {
    std::optional<FlagSet> base = flag_set_from(each);
    if (!base) return std::nullopt;
    chosen.bases.push_back(std::move(*base));
  }
  for (const store::Flags& each : row.tried)
    if (std::optional<FlagSet> tried = flag_set_from(each))
      chosen.tried.push_back(std::move(tried->flags));
  return chosen;
}

}  // namespace

Result<std::optional<TunedDispatch>> tune_and_keep(Context& context,
                                                   const problem::Dispatch& dispatch,
                                                   const Turn& turn,
                                                   std::vector<NotTuned>& not_tuned) {
  Result<TunedDispatch> tuned = tune_dispatch(context, dispatch, turn);
  if (!tuned && tuned.error().kind == ErrorKind::kFailure) {
    context.observer.note(tuned.error().message);
    HONE_TRY(context.store.log_event("not tuned", tuned.error().message));
    not_tuned.push_back({dispatch.name, tuned.error().message});
    HONE_TRY(tell_done(context, dispatch, nullptr, tuned.error().message));
    return std::nullopt;
  }
  HONE_TRY(tuned);
  HONE_TRY(keep_finished(context, *tuned));
  HONE_TRY(tell_done(context, dispatch, &*tuned, ""));
  return std::move(*tuned);
}

Result<EarlierWork> earlier_work(Context& context, const store::Run& like, store::Id program) {
  HONE_ASSIGN(const std::vector<store::Run> runs, context.store.runs());
  HONE_ASSIGN(const std::vector<store::SelectionRow> selections, context.store.selections());
  const std::optional<store::Id> measured_by = context.options.measured_by;
  std::vector<store::Run> alike = runs_like(runs, like, program);
  std::vector<store::Id> unfinished = unfinished_runs(alike, like);
  if (measured_by) {
    // The run took over what stopped runs of its task had finished.
    HONE_ASSIGN(const store::Run measured, context.store.run(*measured_by));
    alike = runs_like(runs, measured, program);
    unfinished = mapped(alike, &store::Run::id);
  }
  const double budget = context.options.budget_seconds;
  EarlierWork work;
  for (const store::Run& run : alike) {
    HONE_ASSIGN(const std::vector<store::DispatchResult> rows,
                context.store.dispatch_results(run.id));
    for (const store::DispatchResult& row : rows) {
      std::optional<TunedDispatch> tuned = tuned_from(row);
      // Takes a run's first selection, which its search made. A later one records the result of the
      // run's proof.
      const auto selection = std::ranges::find_if(selections, [&](const auto& each) {
        return each.run == run.id && each.dispatch == row.dispatch &&
               each.build == context.baseline.build && each.device == context.device;
      });
      if (!tuned || selection == selections.end()) continue;
      tuned->selection = *selection;
      // A run with less time searched less.
      const bool is_enough = measured_by || row.budget.value_or(budget) >= budget;
      if (std::ranges::count(unfinished, run.id) > 0 && is_enough)
        work.finished[row.dispatch] = *tuned;
      work.found[row.dispatch] = std::move(*tuned);
    }
  }
  return work;
}

Status keep_flags(Context& context, const ChosenFlags& chosen) {
  store::FlagChoiceRow row;
  row.best = row_of(chosen.best);
  for (const FlagSet& base : chosen.bases) row.bases.push_back(row_of(base));
  for (const std::vector<std::string>& tried : chosen.tried)
    row.tried.push_back({"", nlohmann::json(tried).dump()});
  return context.store.record(row);
}

Result<std::optional<ChosenFlags>> kept_flags(Context& context, const store::Run& like,
                                              store::Id program) {
  HONE_ASSIGN(const std::vector<store::Run> runs, context.store.runs());
  std::optional<ChosenFlags> chosen;
  for (const store::Id run : unfinished_runs(runs_like(runs, like, program), like)) {
    HONE_ASSIGN(const std::optional<store::FlagChoiceRow> row, context.store.flag_choice(run));
    if (!row) continue;
    if (auto kept = chosen_from(*row)) chosen = std::move(kept);
  }
  return chosen;
}

}  // namespace hone::tune
