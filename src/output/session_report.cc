#include "output/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "output/json_text.h"

namespace hone::output {
namespace {

Cell speedup_cell(std::optional<double> speedup, std::optional<double> low,
                  std::optional<double> high) {
  if (!speedup) return {nullptr, "-"};
  if (!low || !high) return {*speedup, fmt::format("{:.2f}x", *speedup)};
  return {{{"speedup", *speedup}, {"low", *low}, {"high", *high}},
          fmt::format("{:.2f}x [{:.2f}, {:.2f}]", *speedup, *low, *high)};
}

// Cells of the winner: its speedup, its candidate's id, and who makes it.
Cell gain_cell(const MeasuredDispatch& dispatch) {
  const store::DispatchView& row = dispatch.row;
  return dispatch.beaten ? speedup_cell(row.speedup, row.speedup_low, row.speedup_high)
                         : Cell{1.0, "default kept"};
}

Cell winner_cell(const MeasuredDispatch& dispatch) {
  return dispatch.beaten ? Cell{*dispatch.row.selection->winner, ""} : Cell{nullptr, "-"};
}

Cell winning_maker_cell(const MeasuredDispatch& dispatch) {
  return dispatch.beaten && dispatch.row.best ? maker_cell(dispatch.row.best->provider)
                                              : Cell{nullptr, "-"};
}

std::string failures_text(const Counts& counts) {
  std::vector<std::string> parts;
  if (counts.wrong > 0) parts.push_back(fmt::format("{} wrong", counts.wrong));
  for (const auto& [kind, count] : counts.failed)
    parts.push_back(fmt::format("{} {}", count, kind));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<double> percent(std::optional<double> share) {
  return share ? std::optional<double>(100 * *share) : std::nullopt;
}

// Returns GFLOP/s (1e9) of one launch.
std::optional<double> gflops(double flops, std::optional<double> seconds) {
  if (flops <= 0 || !seconds || *seconds <= 0) return std::nullopt;
  return flops / *seconds / 1e9;
}

// Returns the newest time of an artifact under the provider's own runtime.
Result<std::optional<store::Measurement>> runtime_measurement(store::Store& store,
                                                              store::Id candidate,
                                                              store::Id device) {
  HONE_ASSIGN(store::KnownResults known, store.known(candidate, device, store::Phase::kOwnRuntime));
  return std::move(known.measurement);
}

// Returns the library's fastest time, if it was measured.
std::optional<double> library_seconds(const LibraryRows& library) {
  const std::optional<store::CandidateView>& row = library.only ? library.only : library.best;
  return row ? row->median_seconds : std::nullopt;
}

std::vector<Cell> cells_of(const MeasuredDispatch& measured,
                           const std::optional<store::Measurement>& runtime, const Peaks& peaks,
                           const std::vector<LibraryColumn>& libraries) {
  const store::DispatchView& dispatch = measured.row;
  const std::optional<double> rate = gflops(dispatch.flops, measured.tuned_seconds);
  const std::optional<double> peak =
      runs_on_matrix_units(dispatch) && peaks.matrix ? peaks.matrix : peaks.f32;
  std::optional<double> share, runtime_speedup;
  if (rate && peak) share = 100 * *rate * 1e9 / *peak;
  if (runtime && runtime->sentinel_ratio) runtime_speedup = 1 / *runtime->sentinel_ratio;
  const bool beaten = measured.beaten;
  std::vector<Cell> cells{{dispatch.name, ""},
                          {dispatch.operation, ""},
                          number_cell(percent(measured.share), " %", 1),
                          time_cell(measured.default_seconds),
                          time_cell(measured.tuned_seconds),
                          gain_cell(measured),
                          number_cell(runtime_speedup, "x", 2),
                          number_cell(rate, "", 1),
                          number_cell(share, " %", 0)};
  for (const LibraryColumn& library : libraries)
    cells.push_back(number_cell(
        gflops(dispatch.flops, library_seconds(measured.library(library.provider))), "", 1));
  cells.insert(
      cells.end(),
      {{measured.counts.tried, ""},
       {measured.counts.right, ""},
       {measured.counts.failed, failures_text(measured.counts)},
       {measured.counts.reasons.words(), ""},
       winning_maker_cell(measured),
       winner_cell(measured),
       {beaten ? parse_json(dispatch.best ? dispatch.best->configuration : "{}") : nlohmann::json(),
        ""},
       {beaten ? nlohmann::json(dispatch.selection->ties) : nlohmann::json::array(), ""}});
  return cells;
}

std::vector<Column> closing_columns(const std::vector<LibraryColumn>& libraries,
                                    const std::vector<MeasuredDispatch>& dispatches) {
  std::vector<Column> columns{{"dispatch", "dispatch"},
                              {"operation", "operation"},
                              {"share_percent", "share", kRight, dispatches.size() > kMostInOrder},
                              {"default_seconds", "default", kRight},
                              {"tuned_seconds", "tuned", kRight},
                              {"speedup", "speedup [95 %]", kRight},
                              {"runtime_speedup", "in IREE", kRight},
                              {"gflops", "GFLOP/s", kRight},
                              {"share_of_peak_percent", "of peak", kRight}};
  for (const LibraryColumn& library : libraries) {
    const bool is_there = std::ranges::any_of(dispatches, [&](const MeasuredDispatch& dispatch) {
      return !dispatch.library(library.provider).provider.empty();
    });
    columns.push_back({library.provider + "_gflops", library.title, kRight, is_there});
  }
  const bool several_makers = std::ranges::any_of(dispatches, [](const MeasuredDispatch& dispatch) {
    return dispatch.beaten && dispatch.row.best &&
           store::takes_anothers_place(dispatch.row.best->provider);
  });
  columns.insert(columns.end(), {{"tried", "tried", kRight},
                                 {"verified", "verified", kRight},
                                 {"failed", "failed"},
                                 {"failed_reason", "", kLeft, false},
                                 {"provider", "by", kLeft, several_makers},
                                 {"winner", "id", kRight},
                                 {"configuration", "", kLeft, false},
                                 {"ties", "", kLeft, false}});
  return columns;
}

Table table_of(const tune::CompiledDispatch& dispatch) {
  Table table({{"candidate", "id", kRight},
               {"provider", "provider"},
               {"occupancy", "occupancy", kRight},
               {"registers", "registers", kRight},
               {"spills", "spills", kRight},
               {"shared_bytes", "shared", kRight},
               {"configuration", "configuration"}});
  for (const tune::CompiledRow& row : dispatch.ranked) {
    // Every kernel has registers. A count of 0 means that there is no assembler to tell them.
    const bool known = row.resources.registers > 0;
    const auto if_known = [&](nlohmann::json value, std::string text) {
      return known ? Cell{std::move(value), std::move(text)} : Cell{nullptr, "?"};
    };
    table.add({{row.candidate, ""},
               {row.provider, ""},
               if_known(row.occupancy, fmt::format("{:.3f}", row.occupancy)),
               if_known(row.resources.registers, ""),
               if_known(row.resources.spills, ""),
               {row.resources.shared_bytes, ""},
               {row.configuration, ""}});
  }
  return table;
}

// Candidates without a rank that the text shows of a dispatch; JSON has all.
constexpr std::size_t kMostUnranked = 3;

nlohmann::json json_of(const std::vector<tune::UnrankedRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const tune::UnrankedRow& row : rows)
    list.push_back({{"candidate", row.candidate},
                    {"provider", row.provider},
                    {"configuration", row.configuration},
                    {"kind", row.kind},
                    {"reason", row.reason}});
  return list;
}

// A line for each of the first rows. `what`: what they all are.
std::string text_of(std::string_view what, const std::vector<tune::UnrankedRow>& rows) {
  const auto wrong = provider::name_of(provider::FailureKind::kWrong);
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostUnranked); ++i) {
    std::string words = rows[i].reason;
    // A runner's last words are behind how it ended.
    if (const auto end = words.find('\n'); end != std::string::npos) words.replace(end, 1, ": ");
    if (!rows[i].kind.empty() && rows[i].kind != wrong) words = rows[i].kind + ": " + words;
    text += fmt::format("candidate {} is {}: {}\n", rows[i].candidate, what, in_one_line(words));
  }
  if (rows.size() > kMostUnranked)
    text += fmt::format("{} more are {}\n", rows.size() - kMostUnranked, what);
  return text;
}

// Tells what the user can do about candidates that took too long.
std::string advice_for(const std::vector<tune::UnrankedRow>& rows) {
  const auto timeout = provider::name_of(provider::FailureKind::kKernelTimeout);
  return std::ranges::any_of(rows, [&](const auto& row) { return row.kind == timeout; })
             ? "not verified in time: --kernel-timeout 600 --retry-failed gives each 10 minutes\n"
             : std::string();
}

// Lines of what an emulator found of a dispatch's candidates.
std::string verdicts_text(const tune::CompiledDispatch& dispatch) {
  if (!dispatch.verdicts) return {};
  const tune::EmulatedVerdicts& verdicts = *dispatch.verdicts;
  std::string text =
      fmt::format("on an emulator: {} correct, {} wrong, {} not verified", verdicts.right,
                  verdicts.wrong.size(), verdicts.not_verified.size());
  if (verdicts.verified_now > 0)
    text += fmt::format("; {} compiled and verified in {}, {:.0f} a minute", verdicts.verified_now,
                        format_duration(dispatch.seconds),
                        60 * static_cast<double>(verdicts.verified_now) / dispatch.seconds);
  text += '\n';
  if (!verdicts.default_is_wrong.empty())
    text += fmt::format("the compiler's own choice is wrong: {}\n",
                        in_one_line(verdicts.default_is_wrong));
  return text + text_of("wrong", verdicts.wrong) + text_of("not verified", verdicts.not_verified) +
         advice_for(verdicts.not_verified);
}

struct OfDispatch {
  std::optional<store::CandidateView> base;  // its default
  std::vector<store::CandidateView> tried;   // by id
};

// Returns candidates by dispatch, without those that were proposed and never compiled.
Result<std::map<store::Id, OfDispatch>> candidates_of(store::Store& store, store::Id program,
                                                      store::Id build, store::Id device) {
  HONE_ASSIGN(std::vector<store::CandidateView> rows,
              store.candidate_rows({.build = build, .program = program}));
  std::map<store::Id, OfDispatch> dispatches;
  for (store::CandidateView& row : rows) {
    if (row.device && *row.device != device) continue;
    if (row.state == store::CandidateState::kUntried) continue;
    OfDispatch& of = dispatches[row.dispatch];
    if (row.is_default && !of.base)
      of.base = std::move(row);
    else if (!row.is_default)
      of.tried.push_back(std::move(row));
  }
  return dispatches;
}

std::optional<double> speedup_of(const store::CandidateView& row, const OfDispatch& of) {
  if (!row.median_seconds || !of.base || !of.base->median_seconds) return std::nullopt;
  return *of.base->median_seconds / *row.median_seconds;
}

// Returns the kind of the failure, else the state.
std::string outcome_of(const store::CandidateView& row) {
  return row.failure_kind.empty() ? std::string(name_of(row.state)) : row.failure_kind;
}

std::string line_of(const store::CandidateView& row, const OfDispatch& of) {
  const std::optional<double> speedup = speedup_of(row, of);
  return fmt::format("{:>8}  {:<9}  {:<14}  {:>9}  {:>7}  {}\n", row.candidate,
                     row.is_default ? "baseline" : "candidate", outcome_of(row),
                     time_cell(row.median_seconds).text,
                     speedup ? fmt::format("{:.2f}x", *speedup) : "-",
                     row.is_default ? "" : row.configuration);
}

}  // namespace

Result<Table> dispatch_table(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::vector<LibraryColumn>& libraries) {
  HONE_ASSIGN(const Peaks peaks, peaks_of(store, device));
  HONE_ASSIGN(const std::vector<MeasuredDispatch> dispatches,
              measured_dispatches(store, program, build, device));
  Table table(closing_columns(libraries, dispatches));
  for (const MeasuredDispatch& dispatch : dispatches) {
    std::optional<store::Measurement> runtime;
    if (dispatch.beaten) {
      HONE_ASSIGN(runtime, runtime_measurement(store, *dispatch.row.selection->winner, device));
    }
    table.add(cells_of(dispatch, runtime, peaks, libraries));
  }
  return table;
}

Result<Table> tuned_table(store::Store& store, store::Id program, store::Id build, store::Id device,
                          double share) {
  HONE_ASSIGN(std::vector<MeasuredDispatch> dispatches,
              measured_dispatches(store, program, build, device));
  std::erase_if(dispatches, [](const MeasuredDispatch& each) { return !each.row.selection; });
  std::ranges::stable_sort(dispatches, std::greater(),
                           [](const MeasuredDispatch& each) { return each.share.value_or(0); });
  double measured = 0;
  for (const MeasuredDispatch& each : dispatches) measured += each.share.value_or(0);
  const double scale = measured > 0 ? share / measured : 1;
  Table table({{"dispatch", "dispatch"},
               {"share_percent", "share", kRight},
               {"default_seconds", "default", kRight},
               {"tuned_seconds", "tuned", kRight},
               {"speedup", "speedup [95 %]", kRight},
               {"winner", "id", kRight},
               {"provider", "by"}});
  for (const MeasuredDispatch& each : dispatches) {
    table.add(
        {{each.row.name, ""},
         number_cell(each.share ? std::optional(100 * scale * *each.share) : std::nullopt, " %", 1),
         time_cell(each.default_seconds),
         time_cell(each.tuned_seconds),
         gain_cell(each),
         winner_cell(each),
         winning_maker_cell(each)});
  }
  return table;
}

Result<Table> program_table(store::Store& store, store::Id program, store::Id run) {
  Table table({{"variant", "whole program"},
               {"seconds", "time", kRight},
               {"speedup", "over default [95 %]", kRight},
               {"verdict", "verdict"}});
  HONE_ASSIGN(std::vector<store::ProgramMeasurement> rows, store.program_measurements(program));
  // List the flag sets, which were tried before any tuning, last.
  std::ranges::stable_partition(rows, [](const store::ProgramMeasurement& row) {
    return row.purpose == store::Purpose::kProof;
  });
  for (const store::ProgramMeasurement& row : rows) {
    if (row.run != run) continue;
    const bool measured = !row.timing.samples.empty();
    const auto inverse = [](std::optional<double> ratio) {
      return ratio && *ratio > 0 ? std::optional<double>(1 / *ratio) : std::nullopt;
    };
    const bool of_flags = row.purpose == store::Purpose::kFlags;
    table.add({{(of_flags ? "flags: " : "") + row.variant, ""},
               time_cell(measured ? std::optional<double>(row.timing.median) : std::nullopt),
               measured ? speedup_cell(inverse(row.ratio), inverse(row.ratio_high),
                                       inverse(row.ratio_low))
                        : Cell{nullptr, "-"},
               {row.verdict, in_one_line(row.verdict)}});
  }
  return table;
}

Table time_table(trial::TimeBudget& time) {
  Table table({{"of", "time of"},
               {"phase", "phase"},
               {"count", "count", kRight},
               {"seconds", "time", kRight},
               {"share", "share", kRight}});
  const std::vector<trial::TimeRow> rows = time.rows();
  std::map<std::string_view, double> totals;
  for (const trial::TimeRow& row : rows) totals[row.of] += row.seconds;
  for (const trial::TimeRow& row : rows) {
    const double share = totals[row.of] > 0 ? row.seconds / totals[row.of] : 0;
    if (row.seconds <= 0) continue;
    table.add({{row.of, ""},
               {row.phase, ""},
               {row.count, ""},
               {row.seconds, format_duration(row.seconds)},
               {share, fmt::format("{:.1f} %", 100 * share)}});
  }
  return table;
}

Result<std::string> compiled_report(const nlohmann::json& target,
                                    const tune::CompiledProgram& compiled, bool json,
                                    const std::filesystem::path& file) {
  nlohmann::json document{{"schema_version", kSchemaVersion},
                          {"program", compiled.program.path},
                          {"target", target},
                          {"dispatches", nlohmann::json::array()},
                          {"not_tuned", nlohmann::json::array()}};
  std::string text;
  const auto fails = std::ranges::find_if(
      compiled.dispatches, [](const auto& each) { return !each.default_failure.empty(); });
  if (fails != compiled.dispatches.end())
    text += fmt::format("as it is, the program does not compile: {}: {}\n", fails->dispatch->name,
                        fails->default_failure);
  for (const tune::NotTuned& not_tuned : compiled.not_tuned) {
    document["not_tuned"].push_back(
        {{"dispatch", not_tuned.dispatch}, {"reason", not_tuned.reason}});
    text += fmt::format("not tuned: {}: {}\n", not_tuned.dispatch, not_tuned.reason);
  }
  const tune::RunVerdict verdict = tune::verdict_of(compiled);
  document["verdict"] = {{"outcome", name_of(verdict.outcome)}, {"reason", verdict.reason}};
  for (const tune::CompiledDispatch& dispatch : compiled.dispatches) {
    const Table table = table_of(dispatch);
    document["dispatches"].push_back({{"dispatch", dispatch.dispatch->name},
                                      {"space", dispatch.space},
                                      {"tried", dispatch.tried},
                                      {"compiled", dispatch.compiled},
                                      {"distinct", dispatch.distinct},
                                      {"failed", dispatch.failures.count()},
                                      {"failed_reason", dispatch.failures.words()},
                                      {"default_failure", dispatch.default_failure},
                                      {"candidates", table.to_json()}});
    if (dispatch.verdicts)
      document["dispatches"].back()["emulated"] = {
          {"correct", dispatch.verdicts->right},
          {"seconds", dispatch.seconds},
          {"wrong", json_of(dispatch.verdicts->wrong)},
          {"not_verified", json_of(dispatch.verdicts->not_verified)},
          {"default_is_wrong", dispatch.verdicts->default_is_wrong}};
    const std::string reason = dispatch.failures.words();
    text += fmt::format("{}: {} of {} tried compile, {}{} differ; the space has {}\n{}{}{}{}\n",
                        dispatch.dispatch->name, dispatch.compiled, dispatch.tried,
                        dispatch.distinct, dispatch.verdicts ? " correct ones" : "",
                        format_count(dispatch.space), reason, reason.empty() ? "" : "\n",
                        verdicts_text(dispatch), dispatch.ranked.empty() ? "" : table.to_text());
  }
  const std::string written = json_text(document) + "\n";
  HONE_TRY(write_file_atomically(file, written));
  if (json) return written;
  return text + fmt::format("Nothing was measured: the order is {}.\ncandidates: {}\n{}",
                            compiled.is_ranked ? "by spilled registers, occupancy and shared memory"
                                               : "that of the proposals",
                            file.string(), last_line(verdict));
}

Result<Table> candidate_table(store::Store& store, store::Id program, store::Id build,
                              store::Id device) {
  HONE_ASSIGN(const auto dispatches, candidates_of(store, program, build, device));
  Table table({{"candidate", "id", kRight},
               {"dispatch", "dispatch"},
               {"operation", "operation"},
               {"default", "default"},
               {"outcome", "outcome"},
               {"seconds", "time", kRight},
               {"speedup", "speed-up", kRight},
               {"compile_seconds", "compiled in", kRight},
               {"configuration", "configuration"}});
  for (const auto& [id, of] : dispatches) {
    const auto add = [&, &of = of](const store::CandidateView& row) {
      const auto configuration = parse_json(row.configuration);
      table.add({{row.candidate, ""},
                 {row.dispatch_name, ""},
                 {row.operation, ""},
                 {row.is_default, ""},
                 {outcome_of(row), ""},
                 time_cell(row.median_seconds),
                 number_cell(speedup_of(row, of), "x", 2),
                 time_cell(row.compile_seconds),
                 {configuration, ""}});
    };
    if (of.base) add(*of.base);
    std::ranges::for_each(of.tried, add);
  }
  return table;
}

Result<std::string> candidate_log(store::Store& store, store::Id program, store::Id build,
                                  store::Id device) {
  HONE_ASSIGN(const auto dispatches, candidates_of(store, program, build, device));
  std::string log = "# id of hone show, what it is, outcome, time of a launch, over the baseline\n";
  for (const auto& [id, of] : dispatches) {
    if (!of.base) continue;
    log += "\n# " + of.base->dispatch_name + "\n";
    log += line_of(*of.base, of);
    for (const store::CandidateView& row : of.tried) log += line_of(row, of);
    if (!of.tried.empty()) log += line_of(*of.base, of);
  }
  return log;
}

}  // namespace hone::output
