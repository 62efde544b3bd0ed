#include "output/session_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone::output {
namespace {

constexpr std::string_view kOpenBlas = "openblas";

Cell time_cell(std::optional<double> seconds) {
  if (!seconds) return {nullptr, "-"};
  return {*seconds, format_duration(*seconds)};
}

Cell number_cell(std::optional<double> value, std::string_view unit, int digits) {
  if (!value) return {nullptr, "-"};
  return {*value, fmt::format("{:.{}f}{}", *value, digits, unit)};
}

Cell speedup_cell(std::optional<double> speedup, std::optional<double> low,
                  std::optional<double> high) {
  if (!speedup) return {nullptr, "-"};
  if (!low || !high) return {*speedup, fmt::format("{:.2f}x", *speedup)};
  return {{{"speedup", *speedup}, {"low", *low}, {"high", *high}},
          fmt::format("{:.2f}x [{:.2f}, {:.2f}]", *speedup, *low, *high)};
}

std::string failures_text(const store::DispatchRow& row) {
  std::vector<std::string> parts;
  if (row.wrong > 0) parts.push_back(fmt::format("{} wrong", row.wrong));
  for (const auto& [kind, count] : row.failed) parts.push_back(fmt::format("{} {}", count, kind));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

// GFLOP/s (1e9) of one launch.
std::optional<double> gflops(double flops, std::optional<double> seconds) {
  if (flops <= 0 || !seconds || *seconds <= 0) return std::nullopt;
  return flops / *seconds / 1e9;
}

// The newest time of an artifact under the provider's own runtime.
Result<std::optional<store::Measurement>> runtime_measurement(store::Store& store,
                                                              store::Id candidate,
                                                              store::Id device) {
  HONE_ASSIGN(store::Known known, store.known(candidate, device, store::Phase::kIreeRuntime));
  return std::move(known.measurement);
}

struct Row {
  const store::DispatchRow& dispatch;
  std::optional<store::CandidateRow> openblas;
  std::optional<store::Measurement> runtime;
  std::optional<double> peak;  // flop/s
};

std::vector<Cell> cells_of(const Row& row) {
  const store::DispatchRow& dispatch = row.dispatch;
  const bool beaten = dispatch.selection && dispatch.selection->winner;
  std::optional<double> default_seconds, tuned_seconds, openblas_seconds;
  if (dispatch.default_row) default_seconds = dispatch.default_row->median_seconds;
  tuned_seconds = beaten && dispatch.best ? dispatch.best->median_seconds : default_seconds;
  if (row.openblas) openblas_seconds = row.openblas->median_seconds;
  // The default and OpenBLAS were run, not tried.
  const std::int64_t baselines = (dispatch.default_row ? 1 : 0) + (row.openblas ? 1 : 0);
  const std::optional<double> rate = gflops(dispatch.flops, tuned_seconds);
  std::optional<double> share;
  if (rate && row.peak && *row.peak > 0) share = 100 * *rate * 1e9 / *row.peak;
  std::optional<double> runtime_speedup;
  if (row.runtime && row.runtime->sentinel_ratio)
    runtime_speedup = 1 / *row.runtime->sentinel_ratio;
  return {{dispatch.name, ""},
          {dispatch.operation, ""},
          time_cell(default_seconds),
          time_cell(tuned_seconds),
          beaten ? speedup_cell(dispatch.speedup, dispatch.speedup_low, dispatch.speedup_high)
                 : Cell{1.0, "default kept"},
          number_cell(runtime_speedup, "x", 2),
          number_cell(rate, "", 1),
          number_cell(share, " %", 0),
          number_cell(gflops(dispatch.flops, openblas_seconds), "", 1),
          {dispatch.tried - baselines, ""},
          {dispatch.right - baselines, ""},
          {dispatch.failed, failures_text(dispatch)},
          {beaten ? nlohmann::json(*dispatch.selection->winner) : nlohmann::json(),
           beaten ? fmt::format("{}", *dispatch.selection->winner) : "-"},
          {beaten ? nlohmann::json::parse(dispatch.best ? dispatch.best->configuration : "{}",
                                          nullptr, false)
                  : nlohmann::json(),
           ""},
          {beaten ? nlohmann::json(dispatch.selection->ties) : nlohmann::json::array(), ""}};
}

}  // namespace

Result<Table> dispatch_table(store::Store& store, store::Id program, store::Id build,
                             store::Id device) {
  Table table({{"dispatch", "dispatch"},
               {"operation", "operation"},
               {"default_seconds", "default", Align::kRight},
               {"tuned_seconds", "tuned", Align::kRight},
               {"speedup", "speed-up [95 %]", Align::kRight},
               {"runtime_speedup", "in IREE", Align::kRight},
               {"gflops", "GFLOP/s", Align::kRight},
               {"share_of_peak_percent", "of peak", Align::kRight},
               {"openblas_gflops", "OpenBLAS", Align::kRight},
               {"tried", "tried", Align::kRight},
               {"verified", "verified", Align::kRight},
               {"failed", "failed"},
               {"winner", "id", Align::kRight},
               {"configuration", "", Align::kLeft, false},
               {"ties", "", Align::kLeft, false}});
  std::optional<double> peak, matrix_peak;
  HONE_ASSIGN(const std::vector<store::DeviceFact> facts, store.device_facts(device));
  for (const store::DeviceFact& fact : facts) {
    if (fact.name == store::kPeakFact) peak = fact.value;
    if (fact.name == store::kMatrixPeakFact) matrix_peak = fact.value;
  }

  store::Filter filter;
  filter.program = program;
  filter.build = build;
  filter.device = device;
  HONE_ASSIGN(const std::vector<store::DispatchRow> dispatches, store.dispatch_rows(filter));
  HONE_ASSIGN(const std::vector<store::CandidateRow> candidates, store.candidate_rows(filter));
  for (const store::DispatchRow& dispatch : dispatches) {
    // Products of 16-bit floats run on matrix units where there are any.
    const bool on_matrix_units =
        matrix_peak && dispatch.operation.find("f16,") != std::string::npos;
    Row row{dispatch, {}, {}, on_matrix_units ? matrix_peak : peak};
    for (const store::CandidateRow& candidate : candidates)
      if (candidate.dispatch == dispatch.dispatch && candidate.provider == kOpenBlas)
        row.openblas = candidate;
    if (dispatch.selection && dispatch.selection->winner) {
      HONE_ASSIGN(row.runtime, runtime_measurement(store, *dispatch.selection->winner, device));
    }
    table.add(cells_of(row));
  }
  return table;
}

Result<Table> program_table(store::Store& store, store::Id program, store::Id run) {
  Table table({{"variant", "whole program"},
               {"seconds", "time", Align::kRight},
               {"speedup", "over default [95 %]", Align::kRight},
               {"verdict", "verdict"}});
  HONE_ASSIGN(const std::vector<store::ProgramMeasurement> rows,
              store.program_measurements(program));
  for (const store::ProgramMeasurement& row : rows) {
    if (row.run != run) continue;
    const bool measured = !row.timing.samples.empty();
    const auto inverse = [](std::optional<double> ratio) {
      return ratio && *ratio > 0 ? std::optional<double>(1 / *ratio) : std::nullopt;
    };
    table.add({{row.variant, ""},
               time_cell(measured ? std::optional<double>(row.timing.median) : std::nullopt),
               measured ? speedup_cell(inverse(row.ratio), inverse(row.ratio_high),
                                       inverse(row.ratio_low))
                        : Cell{nullptr, "-"},
               {row.verdict, row.verdict.substr(0, row.verdict.find('\n'))}});
  }
  return table;
}

}  // namespace hone::output
