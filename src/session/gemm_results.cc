#include "session/gemm_results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "output/cells.h"
#include "provider/triton/configuration_keys.h"

namespace hone::session {

double GemmResult::tflops() const {
  const triton::Gemm& gemm = entry.gemm;
  if (!seconds) return 0;
  return 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
         static_cast<double>(gemm.n) * static_cast<double>(gemm.k) / *seconds * 1e-12;
}

std::string checked_words(const std::string& tolerance) {
  if (tolerance.starts_with("absolute 0, relative 0:")) return "right, exact";
  return "right within " + tolerance.substr(0, tolerance.find(':'));
}

Result<std::vector<GemmResult>> gemm_results(
    store::Store& store, const std::map<std::string, triton::GemmEntry>& entries,
    const std::vector<tune::TunedDispatch>& tuned, store::Id build, store::Id device) {
  std::vector<GemmResult> results;
  for (const tune::TunedDispatch& each : tuned) {
    GemmResult result{entries.at(each.dispatch->name), {}, 0, std::nullopt, std::nullopt, {}};
    store::Filter filter;
    filter.dispatch = each.id;
    filter.build = build;
    filter.device = device;
    if (each.selection.winner) {
      filter.candidate = each.selection.winner;
      result.speedup = each.selection.speedup;
    }
    HONE_ASSIGN(const std::vector<store::CandidateRow> rows, store.candidate_rows(filter));
    for (const store::CandidateRow& row : rows)
      if (each.selection.winner ||
          (row.provider == "triton" && row.configuration == store::kDefaultConfiguration)) {
        result.candidate = row.candidate;
        break;
      }
    HONE_ASSIGN(store::Known known, store.known(result.candidate, device, store::Phase::kFinalist));
    if (!known.measurement) {
      HONE_ASSIGN(known, store.known(result.candidate, device, store::Phase::kSearch));
    }
    if (known.measurement) result.seconds = known.measurement->timing.median;
    if (known.verification && known.verification->right)
      result.tolerance = known.verification->tolerance;
    if (known.artifact) {
      const auto knobs = nlohmann::json::parse(known.artifact->configured, nullptr, false);
      if (knobs.is_object()) result.knobs = knobs.get<std::map<std::string, std::int64_t>>();
    }
    result.entry.configuration = triton::keyed(result.entry.gemm, result.knobs);
    results.push_back(std::move(result));
  }
  return results;
}

std::string results_yaml(const std::vector<GemmResult>& results) {
  std::string text;
  for (const GemmResult& result : results)
    text += triton::result_line(result.entry, result.seconds.value_or(std::nan("")));
  return text;
}

output::Table gemm_table(const std::vector<GemmResult>& results) {
  output::Table table({{"gemm", "gemm"},
                       {"time", "time"},
                       {"tflops", "TFLOP/s"},
                       {"speedup", "over default"},
                       {"checked", "checked"},
                       {"configuration", "configuration"}});
  for (const GemmResult& result : results) {
    std::string knobs;
    for (const auto& [name, value] : result.knobs)
      knobs += fmt::format("{}{}={}", knobs.empty() ? "" : ",", name, value);
    const std::string name = triton::name_of(result.entry.gemm);
    table.add({{name, name},
               output::time_cell(result.seconds),
               output::number_cell(result.tflops(), "", 1),
               output::number_cell(result.speedup, "x", 2),
               {result.tolerance, result.tolerance.empty() ? "-" : checked_words(result.tolerance)},
               {nlohmann::json(result.knobs), knobs}});
  }
  return table;
}

}  // namespace hone::session
