#include "tune/dispatch/finished_work.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

namespace hone::tune {
namespace {

constexpr std::string_view kTuned = "tuned";
constexpr std::string_view kChosenFlags = "chosen flags";

nlohmann::json json_of(const FlagSet& set) {
  return {{"name", set.name}, {"flags", set.flags}};
}

FlagSet flag_set_from(const nlohmann::json& json) {
  return {json.at("name").get<std::string>(), json.at("flags").get<std::vector<std::string>>()};
}

// Reads an event; one that this version does not understand counts as none.
std::optional<ChosenFlags> chosen_from(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    ChosenFlags chosen{.best = flag_set_from(json.at("best")),
                       .bases = {},
                       .tried = json.at("tried").get<std::vector<std::vector<std::string>>>()};
    for (const nlohmann::json& base : json.at("bases")) chosen.bases.push_back(flag_set_from(base));
    if (chosen.bases.empty()) return std::nullopt;
    return chosen;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

// What a run with a longer budget finished also serves one that is to end sooner.
std::string without_budget(const std::string& command) {
  return std::regex_replace(command, std::regex(R"( --budget[ =]\S+)"), "");
}

std::vector<store::Run> runs_like(const std::vector<store::Run>& runs, const std::string& command,
                                  store::Id program) {
  std::vector<store::Run> alike;
  for (const store::Run& run : runs)
    if (run.program == program && without_budget(run.command) == without_budget(command))
      alike.push_back(run);
  return alike;
}

std::vector<store::Id> unfinished_runs(const std::vector<store::Run>& alike,
                                       const std::string& command) {
  std::vector<store::Id> unfinished;
  for (const store::Run& run : alike) {
    if (run.state != store::RunState::kFinished)
      unfinished.push_back(run.id);
    else if (run.command == command)
      unfinished.clear();
  }
  return unfinished;
}

struct KeptDispatch {
  TunedDispatch tuned;
  std::optional<double> budget;  // seconds of the run that kept it
};

// Reads an event; one that this version does not understand counts as none.
std::optional<KeptDispatch> kept_from(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    KeptDispatch kept;
    if (json.contains("budget")) kept.budget = json.at("budget").get<double>();
    TunedDispatch& tuned = kept.tuned;
    tuned.id = json.at("dispatch").get<store::Id>();
    const auto replacing = json.value("replacing", std::string());
    if (!json.at("attributes").is_null())
      tuned.payload = provider::Payload{json.at("attributes"), replacing};
    tuned.code = json.at("code").get<std::string>();
    tuned.default_is_wrong = json.value("default_is_wrong", false);
    if (!replacing.empty()) tuned.launch = json.at("launch").get<problem::Launch>();
    if (json.contains("accuracy")) tuned.accuracy = json.at("accuracy");
    for (const nlohmann::json& tie : json.value("near_ties", nlohmann::json::array()))
      tuned.near_ties.push_back(
          {tie.at("candidate").get<store::Id>(),
           provider::Payload{tie.at("attributes"), tie.value("replacing", std::string())}});
    return kept;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

Status keep_finished(Context& context, TunedDispatch& tuned) {
  store::Selection& selection = tuned.selection;
  selection.dispatch = tuned.id;
  selection.build = context.baseline.build;
  selection.device = context.device;
  return context.store.transaction([&]() -> Status {
    HONE_TRY(context.store.record(selection));
    nlohmann::json payload;
    if (tuned.payload) payload = tuned.payload->json;
    nlohmann::json near_ties = nlohmann::json::array();
    for (const NearTie& tie : tuned.near_ties)
      near_ties.push_back({{"candidate", tie.candidate},
                           {"attributes", tie.payload.json},
                           {"replacing", tie.payload.replacing}});
    nlohmann::json kept{{"dispatch", tuned.id},
                        {"attributes", payload},
                        {"code", tuned.code},
                        {"near_ties", near_ties},
                        {"budget", context.options.budget_seconds}};
    if (tuned.default_is_wrong) kept["default_is_wrong"] = true;
    if (tuned.replaces() && tuned.launch) {
      kept["replacing"] = tuned.payload->replacing;
      kept["launch"] = *tuned.launch;
    }
    if (tuned.accuracy) kept["accuracy"] = *tuned.accuracy;
    // The code is PTX: text. Of a device that takes something else, what is no text is lost, and
    // the note on whether it ships with it.
    return context.store.log_event(
        kTuned, kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace

Result<std::optional<TunedDispatch>> tune_and_keep(
    Context& context, const problem::Dispatch& dispatch, const problem::Dispatch* reference,
    const Share& share, std::vector<NotTuned>& not_tuned, const measure::ProblemRequest* next) {
  Result<TunedDispatch> tuned = tune_dispatch(context, dispatch, reference, share, next);
  if (!tuned && tuned.error().kind == ErrorKind::kFailure) {
    context.observer.note(tuned.error().message);
    HONE_TRY(context.store.log_event("not tuned", tuned.error().message));
    not_tuned.push_back({dispatch.name, tuned.error().message});
    return std::nullopt;
  }
  HONE_TRY(tuned);
  HONE_TRY(keep_finished(context, *tuned));
  return std::move(*tuned);
}

Result<EarlierWork> earlier_work(Context& context, const std::string& command, store::Id program) {
  HONE_ASSIGN(const std::vector<store::Run> runs, context.store.runs());
  HONE_ASSIGN(const std::vector<store::Selection> selections, context.store.selections());
  const std::vector<store::Run> alike = runs_like(runs, command, program);
  const std::vector<store::Id> unfinished = unfinished_runs(alike, command);
  const double budget = context.options.budget_seconds;
  EarlierWork work;
  for (const store::Run& run : alike) {
    HONE_ASSIGN(const std::vector<store::Event> events, context.store.events(run.id));
    for (const store::Event& event : events) {
      if (event.kind != kTuned) continue;
      std::optional<KeptDispatch> kept = kept_from(event.text);
      if (!kept) continue;
      TunedDispatch& tuned = kept->tuned;
      // The first of a run is of the search; a later one says what that run's proof made of it.
      const auto selection = std::ranges::find_if(selections, [&](const auto& each) {
        return each.run == run.id && each.dispatch == tuned.id &&
               each.build == context.baseline.build && each.device == context.device;
      });
      if (selection == selections.end()) continue;
      tuned.selection = *selection;
      // A run with less time did not search for as long.
      if (std::ranges::count(unfinished, run.id) > 0 && kept->budget.value_or(budget) >= budget)
        work.finished[tuned.id] = tuned;
      work.found[tuned.id] = std::move(tuned);
    }
  }
  return work;
}

Status keep_flags(Context& context, const ChosenFlags& chosen) {
  nlohmann::json bases = nlohmann::json::array();
  for (const FlagSet& base : chosen.bases) bases.push_back(json_of(base));
  const nlohmann::json kept{
      {"best", json_of(chosen.best)}, {"bases", bases}, {"tried", chosen.tried}};
  return context.store.log_event(kChosenFlags, kept.dump());
}

Result<std::optional<ChosenFlags>> kept_flags(Context& context, const std::string& command,
                                              store::Id program) {
  HONE_ASSIGN(const std::vector<store::Run> runs, context.store.runs());
  std::optional<ChosenFlags> chosen;
  for (const store::Id run : unfinished_runs(runs_like(runs, command, program), command)) {
    HONE_ASSIGN(const std::vector<store::Event> events, context.store.events(run));
    for (const store::Event& event : events)
      if (event.kind == kChosenFlags)
        if (auto kept = chosen_from(event.text)) chosen = std::move(kept);
  }
  return chosen;
}

}  // namespace hone::tune
