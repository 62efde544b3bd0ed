#include "tune/compare/stored_choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "measure/reference.h"
#include "space/configuration.h"
#include "trial/records.h"
#include "tune/services/load_program.h"

namespace hone::tune {

Result<std::vector<StoredChoice>> stored_choices(store::Store& store,
                                                 const std::vector<std::string>& patterns) {
  HONE_ASSIGN(const std::vector<store::DispatchView> rows, store.dispatch_rows());
  std::vector<StoredChoice> choices;
  for (const store::DispatchView& row : rows) {
    const bool wanted =
        patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
          return matches_pattern(row.name, pattern);
        });
    const bool beaten = row.selection && row.selection->winner && row.best;
    if (!wanted || (!beaten && !row.default_row)) continue;
    StoredChoice choice;
    choice.when = row.selection ? row.selection->when : "";
    choice.candidate = beaten ? *row.selection->winner : row.default_row->candidate;
    choice.configuration = beaten ? row.best->configuration : std::string(kDefaultWord);
    if (row.default_row) choice.default_candidate = row.default_row->candidate;
    HONE_ASSIGN(const store::DispatchRow dispatch, store.dispatch(row.dispatch));
    HONE_ASSIGN(choice.dispatch, trial::dispatch_from(dispatch));
    if (row.device) {
      HONE_ASSIGN(const store::DeviceRow device, store.device(*row.device));
      choice.emulated = trial::is_emulated(device);
    }
    // A dispatch has a row for each compiler and device that the store has results of.
    const auto known = std::ranges::find_if(choices, [&](const StoredChoice& other) {
      return problem::fingerprint(other.dispatch) == row.fingerprint;
    });
    if (known == choices.end())
      choices.push_back(std::move(choice));
    else if (known->when < choice.when)
      *known = std::move(choice);
  }
  return choices;
}

Result<Recipe> recipe_of(const CompareContext& context, store::Store& store, store::Id candidate,
                         const problem::Dispatch& dispatch) {
  HONE_ASSIGN(const store::CandidateDetails details, store.details(candidate));
  const provider::Provider* const maker = context.maker(details.candidate.provider);
  if (maker == nullptr)
    return input_error(
        "the code of '{}' in '{}' was compiled by {} and not by you: tune it here, or say --trust "
        "to load it",
        dispatch.name, store.path().string(), details.candidate.provider);
  Recipe recipe;
  HONE_ASSIGN(recipe.flags,
              flags_to_compile_with(details.build, context.options.own_flags, context.provider));
  if (details.candidate.configuration == store::kDefaultConfiguration) return recipe;
  HONE_ASSIGN(const space::Space space, maker->space_of(dispatch));
  HONE_ASSIGN(const space::Configuration configuration,
              space::configuration_from_json(
                  space, nlohmann::ordered_json::parse(details.candidate.configuration, nullptr,
                                                       /*allow_exceptions=*/false)));
  HONE_ASSIGN(recipe.payload, maker->payload_of(dispatch, space, configuration));
  return recipe;
}

Result<provider::Artifact> StoredCodes::of(store::Store& store, store::Id candidate,
                                           const problem::Dispatch& dispatch) const {
  bool loaded = context_.options.trust == store::Trust::kAnyone || compiler_ == nullptr;
  if (!loaded) {
    HONE_ASSIGN(loaded, store.is_own(candidate));
  }
  if (loaded) {
    HONE_ASSIGN(const store::ArtifactRow row,
                store.load_artifact(candidate, context_.options.trust));
    return trial::artifact_from(row);
  }
  HONE_ASSIGN(const Recipe recipe, recipe_of(context_, store, candidate, dispatch));
  HONE_ASSIGN(
      std::vector<provider::Artifact> compiled,
      compile_ways(
          *compiler_,
          {problem::fingerprint(dispatch), dispatch.source, recipe.flags, {}, dispatch.statement},
          {{fmt::format("'{}' of '{}'", dispatch.name, store.path().string()), recipe.payload}}));
  return std::move(compiled.front());
}

Result<provider::Artifact> independent_reference(const CompareContext& context,
                                                 trial::CompileService& compiler,
                                                 const problem::Program& other,
                                                 const problem::Dispatch& dispatch) {
  const std::vector<std::string>& flags = context.options.reference_flags;
  for (const problem::Dispatch& each : other.dispatches) {
    if (each.name != dispatch.name || each.bindings != dispatch.bindings) continue;
    HONE_ASSIGN(std::vector<provider::Artifact> compiled,
                compile_ways(compiler, {dispatch.name + "#reference", each.source, flags},
                             {{"the reference"}}));
    return std::move(compiled.front());
  }
  return failure("'{}' compiled for another CPU has no dispatch '{}' to be verified against",
                 other.path, dispatch.name);
}

Result<std::optional<provider::Artifact>> stored_reference(const CompareContext& context,
                                                           const StoredCodes& codes,
                                                           trial::CompileService* compiler,
                                                           store::Store& store,
                                                           const StoredChoice& choice) {
  const problem::Dispatch& dispatch = choice.dispatch;
  if (measure::has_exact_reference(dispatch)) return std::optional<provider::Artifact>();
  if (!context.options.place.traits.runs_on_host) {
    if (compiler == nullptr)
      return input_error(
          "'{}' has more fused around it than its product, and stores of a GPU hold no code for a "
          "CPU to verify it against; compare the configurations on the program (--config)",
          dispatch.name);
    HONE_ASSIGN(
        const problem::Program other,
        compiler->load_program({dispatch.name, dispatch.source, context.options.reference_flags}));
    return independent_reference(context, *compiler, other, dispatch);
  }
  if (!choice.default_candidate)
    return input_error("'{}' holds no default configuration of '{}' to verify against",
                       store.path().string(), dispatch.name);
  return codes.of(store, *choice.default_candidate, dispatch);
}

}  // namespace hone::tune
