#include "session/list_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "problem/operation.h"

namespace hone::session {

std::string checked_words(const std::optional<store::VerificationRow>& verification) {
  if (!verification || !verification->absolute_tolerance || !verification->relative_tolerance)
    return "-";
  const double absolute = *verification->absolute_tolerance;
  const double relative = *verification->relative_tolerance;
  if (absolute == 0 && relative == 0) return "exact";
  return fmt::format("within absolute {:.3g}, relative {:.3g}", absolute, relative);
}

Result<std::vector<ListResult>> list_results(store::Store& store, std::string_view provider,
                                             const std::vector<tune::TunedDispatch>& tuned,
                                             store::Id build, store::Id device) {
  std::vector<ListResult> results;
  for (const tune::TunedDispatch& each : tuned) {
    ListResult result{each.dispatch, {}, {}, {}, {}};
    store::Filter filter;
    filter.dispatch = each.id;
    filter.build = build;
    filter.device = device;
    filter.candidate = each.selection.winner;
    if (each.selection.winner) result.speedup = each.selection.speedup;
    HONE_ASSIGN(const std::vector<store::CandidateView> rows, store.candidate_rows(filter));
    const auto row = std::ranges::find_if(rows, [&](const store::CandidateView& candidate) {
      return each.selection.winner || (candidate.provider == provider &&
                                       candidate.configuration == store::kDefaultConfiguration);
    });
    if (row != rows.end()) {
      HONE_ASSIGN(store::KnownResults known,
                  store.known(row->candidate, device, store::Phase::kFinalist));
      if (!known.measurement) {
        HONE_ASSIGN(known, store.known(row->candidate, device, store::Phase::kSearch));
      }
      if (known.measurement) result.seconds = known.measurement->timing.median;
      if (known.verification && known.verification->right)
        result.verification = std::move(known.verification);
      if (known.artifact) result.configured = known.artifact->configured;
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::string results_text(const provider::ListProvider& listed,
                         const std::vector<ListResult>& results) {
  std::string text;
  for (const ListResult& result : results)
    text += listed.result_line(*result.dispatch, result.configured, result.seconds);
  return text;
}

output::Table results_table(const provider::ListProvider& listed,
                            const std::vector<ListResult>& results) {
  output::Table table({{"gemm", "gemm"},
                       {"time", "time"},
                       {"tflops", "TFLOP/s"},
                       {"speedup", "over default"},
                       {"checked", "checked"},
                       {"configuration", "configuration"}});
  for (const ListResult& result : results) {
    nlohmann::json configuration = nlohmann::json::parse(result.configured, nullptr, false);
    if (!configuration.is_object()) configuration = nlohmann::json::object();
    std::string knobs;
    for (const auto& [name, value] : configuration.items())
      knobs += fmt::format("{}{}={}", knobs.empty() ? "" : ",", name, value.dump());
    const double flops = problem::flop_count(result.dispatch->root);
    const std::string name = listed.shown_name(*result.dispatch);
    table.add({{name, name},
               output::time_cell(result.seconds),
               output::number_cell(result.seconds ? flops / *result.seconds * 1e-12 : 0, "", 1),
               output::number_cell(result.speedup, "x", 2),
               {result.verification ? result.verification->tolerance : "",
                checked_words(result.verification)},
               {std::move(configuration), knobs}});
  }
  return table;
}

}  // namespace hone::session
