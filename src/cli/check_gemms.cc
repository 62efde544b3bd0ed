// hone tune --compare-wo-tuning FILE and --benchmark: verifies and measures the configurations of a
// result file.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/tune_options.h"
#include "output/cells.h"
#include "output/json_text.h"
#include "provider/triton/triton_provider.h"
#include "provider/triton/tune_gemm.h"
#include "session/list_results.h"
#include "session/list_session.h"
#include "tune/dispatch/given_candidates.h"

namespace hone::cli {
namespace {

Result<tune::GivenList> given_list(const std::vector<triton::GemmEntry>& entries,
                                   const std::string& path) {
  tune::GivenList list{path, {}, {}};
  std::string all;
  for (const triton::GemmEntry& entry : entries) {
    const std::string place = triton::place_of(entry, path);
    if (entry.configuration.empty())
      return input_error("{}no configuration to check: no BLOCK_SIZE_M, BLOCK_SIZE_N, ...", place);
    const auto knobs = triton::knobs_of(entry.gemm, entry.configuration);
    if (!knobs) return input_error("{}{}", place, knobs.error().message);
    list.candidates.push_back({triton::dispatch_of(entry.gemm), nlohmann::json(*knobs).dump(),
                               triton::payload_of(*knobs)});
    all += triton::result_line(entry, std::nan(""));
  }
  list.hash = content_hash(all);
  return list;
}

std::string words_of(const tune::CheckedCandidate& checked) {
  if (checked.failure.empty()) return checked_words(checked.tolerance);
  return checked.is_wrong ? "WRONG" : "failed";
}

output::Table table_of(const std::vector<tune::CheckedCandidate>& checked) {
  output::Table table({{"gemm", "gemm"},
                       {"right", "checked"},
                       {"time", "time", output::Align::kRight},
                       {"tflops", "TFLOP/s", output::Align::kRight},
                       {"speedup", "over default", output::Align::kRight},
                       {"candidate", "id", output::Align::kRight},
                       {"failure", "why"}});
  for (const tune::CheckedCandidate& each : checked) {
    const bool right = each.failure.empty();
    std::optional<double> tflops;
    if (each.seconds)
      tflops = problem::flop_count(each.given->dispatch.root) / *each.seconds * 1e-12;
    table.add({{each.given->dispatch.name, ""},
               {right, words_of(each)},
               output::time_cell(each.seconds),
               output::number_cell(tflops, "", 1),
               output::number_cell(each.speedup, "x", 2),
               {each.candidate, ""},
               {each.failure, right ? "-" : output::in_one_line(each.failure)}});
  }
  return table;
}

}  // namespace

CommandResult check_gemms(TuneOptions options) {
  if (options.tuning.input.empty())
    return input_error("nothing to check: give a result file (--compare-wo-tuning results.yaml)");
  if (options.compile_only)
    return input_error("--compile-only runs nothing, and checking a result file takes a GPU");
  if (!options.gemms.kernel.empty())
    return input_error("--compare-wo-tuning checks hone's kernels; --kernel tunes with its checks");
  const std::string path = options.tuning.input;
  HONE_ASSIGN(const std::vector<triton::GemmEntry> entries, triton::gemms_of(options.gemms, path));
  HONE_ASSIGN(const tune::GivenList list, given_list(entries, path));
  HONE_ASSIGN(auto listed, triton::ListedGemms::open(options.gemms, path));
  HONE_ASSIGN(const std::unique_ptr<ListSession> session,
              ListSession::open(std::move(options), "triton", std::move(listed)));
  Result<std::vector<tune::CheckedCandidate>> checked =
      tune::check_candidates(session->context(), run_row(session->options()), list);
  session->status().clear();
  if (!checked) return tl::unexpected(session->stopped(checked.error(), session->options().store));
  if (session->options().json)
    fmt::print("{}\n",
               output::json_text(nlohmann::json{{"schema_version", output::kSchemaVersion},
                                                {"checked", table_of(*checked).to_json()}}));
  else
    fmt::print("{}", table_of(*checked).to_text());
  return std::ranges::all_of(*checked, [](const auto& each) { return each.failure.empty(); }) ? 0
                                                                                              : 1;
}

}  // namespace hone::cli
