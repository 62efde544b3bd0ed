// hone tune of listed dispatches (--provider triton: GEMMs): writes the configurations of the
// fastest kernels. With --compare-wo-tuning FILE or --benchmark it verifies and measures the
// configurations of a result file.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "cli/tune_options.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/report_page.h"
#include "output/screen.h"
#include "output/session_report.h"
#include "output/table.h"
#include "output/tuning_summary.h"
#include "plan/work_plan.h"
#include "problem/operation.h"
#include "provider/triton/triton_provider.h"
#include "provider/triton/tune_gemm.h"
#include "session/emulated_runners.h"
#include "session/list_results.h"
#include "session/registry.h"
#include "session/sessions.h"
#include "session/travelling_work.h"
#include "tune/dispatch/compile_only.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::cli {
namespace {

using enum output::Align;

constexpr std::size_t kMostPlanned = 25;  // rows of the screen

std::filesystem::path results_file(const SessionOptions& options,
                                   const provider::ListProvider& listed) {
  const std::filesystem::path file = listed.result_file();
  return options.gemms.results.empty() ? options.tuning.out / file : file;
}

// Tables that --json and --verbose print of a tuned list.
struct ListTables {
  output::Table dispatches;
  output::GpuReport gpu;
};

Result<ListTables> tables_of(ListSession& session, const tune::TunedList& tuned) {
  const tune::Context& context = session.context();
  HONE_ASSIGN(output::Table dispatches,
              output::dispatch_table(session.store(), tuned.list, context.baseline.build,
                                     context.device, core_library_columns()));
  std::map<store::Id, output::Spent> spent;
  for (const tune::TunedDispatch& each : tuned.tuned)
    spent[each.id] = {each.seconds, each.busy_seconds};
  HONE_ASSIGN(output::GpuReport gpu,
              output::gpu_report(session.store(), tuned.list, context.baseline.build,
                                 context.device, spent, gpu_library_columns()));
  return ListTables{std::move(dispatches), std::move(gpu)};
}

nlohmann::json document_of(ListSession& session, const tune::TunedList& tuned,
                           const output::Table& results, const ListTables& tables) {
  nlohmann::json document{
      {"gemms", results.to_json()},
      {"dispatches", tables.dispatches.to_json()},
      {"gpu", tables.gpu.table.to_json()},
      {"notes", tables.gpu.notes},
      {"results", results_file(session.options(), session.listed())},
      {"time_budget", output::time_table(session.context().state->time).to_json()},
      {"machine", {{"noise", tuned.machine.noise}, {"state", tuned.machine.state}}},
      {"search", nlohmann::json::array()},
      {"not_tuned", nlohmann::json::array()}};
  for (const tune::TunedDispatch& each : tuned.tuned)
    if (!each.search.strategy.empty())  // not finished by an earlier run
      document["search"].push_back({{"dispatch", each.dispatch->name}, {"search", each.search}});
  for (const tune::NotTuned& not_tuned : tuned.not_tuned)
    document["not_tuned"].push_back(
        {{"dispatch", not_tuned.dispatch}, {"reason", not_tuned.reason}});
  return document;
}

CommandResult print_result(ListSession& session, const tune::TunedList& tuned) {
  const SessionOptions& options = session.options();
  tune::Context& context = session.context();
  HONE_ASSIGN(const std::vector<ListResult> results,
              list_results(session.store(), context.provider.name(), tuned.tuned,
                           context.baseline.build, context.device));
  const output::Table table = results_table(session.listed(), results);
  const auto faster = std::ranges::count_if(
      results, [](const ListResult& each) { return each.speedup.has_value(); });
  const bool emulated = options.tuning.place().facts.emulated;
  const int exit_code = faster > 0 && !emulated ? 0 : 1;
  if (options.json) {
    HONE_ASSIGN(const ListTables tables, tables_of(session, tuned));
    output::print_document(document_of(session, tuned, table, tables));
    return exit_code;
  }
  fmt::print("{}", output::list_summary({.results = table,
                                         .faster = static_cast<std::size_t>(faster),
                                         .file = results_file(options, session.listed()),
                                         .report = options.tuning.out / "report.html",
                                         .skipped = tuned.not_tuned,
                                         .time = context.state->time.rows()},
                                        std::min(output::screen_width(), output::kSummaryWidth)));
  if (emulated)
    fmt::print("\n{}", tune::last_line(tune::on_emulator({tune::RunOutcome::kFaster, {}})));
  if (!options.verbose) return exit_code;
  HONE_ASSIGN(const ListTables tables, tables_of(session, tuned));
  fmt::print("\n{}\n{}{}\n\n{}", tables.dispatches.to_text(), tables.gpu.table.to_text(),
             fmt::join(tables.gpu.notes, "\n"), output::time_table(context.state->time).to_text());
  return exit_code;
}

// Prints what a tuning of the list would do (--dry-run).
CommandResult print_list_plan(ListSession& session) {
  const std::vector<problem::Dispatch>& dispatches = session.listed().dispatches();
  const double budget = session.options().tuning.budget_seconds;
  output::Table table(
      {{"dispatch", "dispatch"}, {"gflop", "GFLOP", kRight}, {"seconds", "time for it", kRight}});
  for (const problem::Dispatch& each : dispatches)
    table.add({{session.listed().shown_name(each), ""},
               output::number_cell(problem::flop_count(each.root) / 1e9, "", 2),
               output::time_cell(budget / static_cast<double>(dispatches.size()))});
  if (session.options().json) {
    output::print_document({{"budget_seconds", budget}, {"dispatches", table.to_json()}});
    return 0;
  }
  const std::size_t width = std::min(output::screen_width(), output::kSummaryWidth);
  fmt::print("{} would be tuned with --budget {}\n\n{}", dispatches.size(), plan::as_budget(budget),
             table.first_text(kMostPlanned, width));
  return 0;
}

// Compiles for a GPU that this machine need not have.
CommandResult compile_list(SessionOptions options, const std::string& provider,
                           provider::ListProvider& listed) {
  const auto target = gpu_of(options.toolchain);
  if (!target) return input_error("--compile-only needs a GPU for --target: sm_90, gfx942, ...");
  device::Facts facts;
  facts.target = target->arch;
  HONE_ASSIGN(const std::unique_ptr<provider::Provider> kernels, listed.provider_for(facts));
  HONE_TRY(complete(options, listed, facts));
  HONE_ASSIGN(const provider::FoundCompiler compiler, listed.find_compiler());
  HONE_TRY(make_out(options));
  HONE_ASSIGN(Toolchain toolchain,
              Toolchain::start(options.toolchain, provider, listed, compiler, facts));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  const store::BuildRow row = build_row(toolchain, options.tuning, target->arch);
  HONE_ASSIGN(const store::Id build, store.intern(row));
  tune::DispatchList list = dispatch_list(listed);
  problem::Program program;
  program.path = list.path;
  program.hash = list.hash;
  program.dispatches = std::move(list.dispatches);
  HONE_ASSIGN(tune::PreparedWork prepared,
              work_to_prepare(options, program.hash, row, /*cpu=*/std::nullopt));
  HONE_ASSIGN(const std::optional<EmulatedRunners> emulated,
              EmulatedRunners::open(options, toolchain, store));
  output::StatusLine status(status_style(options));
  HONE_ASSIGN(const tune::CompiledProgram compiled,
              tune::compile_only({toolchain.compiler(),
                                  *kernels,
                                  {},
                                  store,
                                  options.tuning,
                                  target,
                                  build,
                                  status,
                                  {},
                                  std::move(prepared),
                                  emulated ? &emulated->emulator() : nullptr},
                                 std::move(program), run_row(options)));
  status.clear();
  return print_compiled(options, store, compiled);
}

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
  if (checked.failure.empty()) return checked_words(checked.verification);
  return checked.is_wrong ? "WRONG" : "failed";
}

output::Table table_of(const std::vector<tune::CheckedCandidate>& checked) {
  output::Table table({{"gemm", "gemm"},
                       {"right", "checked"},
                       {"time", "time", kRight},
                       {"tflops", "TFLOP/s", kRight},
                       {"speedup", "over default", kRight},
                       {"candidate", "id", kRight},
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

CommandResult print_compiled(const SessionOptions& options, store::Store& store,
                             const tune::CompiledProgram& compiled) {
  HONE_TRY(output::write_report(store, options.store, options.tuning.out / "report.html"));
  HONE_ASSIGN(const std::string text,
              output::compiled_report(target_json(options.toolchain), compiled, options.json,
                                      options.tuning.out / "compiled.json"));
  fmt::print("{}", text);
  return tune::exit_code(tune::verdict_of(compiled));
}

CommandResult tune_list(TuneOptions options, const std::string& provider,
                        std::unique_ptr<provider::ListProvider> listed) {
  if (options.compile_only && options.tuning.part.is_shard())
    return input_error(
        "--shard {} and --compile-only: a list of GEMMs is compiled as a whole; leave one out",
        to_string(options.tuning.part));
  if (options.compile_only) return compile_list(std::move(options), provider, *listed);
  if (options.tuning.part.kind == plan::Part::Kind::kFlags)
    return input_error("--shard flags is for programs: listed dispatches have no flags to search");
  if (!options.measure_only && !options.dry_run) {
    HONE_ASSIGN(options.measured, measured_work(options, dispatch_list(*listed).hash));
  }
  HONE_ASSIGN(const std::unique_ptr<ListSession> session,
              ListSession::open(std::move(options), provider, std::move(listed)));
  if (session->options().dry_run) return print_list_plan(*session);
  tune::Context& context = session->context();
  const SessionOptions& chosen = session->options();
  const std::filesystem::path file = results_file(chosen, session->listed());
  // Write after every dispatch: whatever ends the run, finished results are in the file.
  const auto write_results = [&](const tune::TunedList& so_far) -> Status {
    HONE_ASSIGN(const std::vector<ListResult> results,
                list_results(session->store(), context.provider.name(), so_far.tuned,
                             context.baseline.build, context.device));
    return write_file_atomically(file, results_text(session->listed(), results));
  };
  const tune::DispatchList list = session->dispatch_list();
  const Result<tune::TunedList> tuned =
      tune::tune_list(context, run_row(chosen), list, write_results);
  session->status().clear();
  if (!tuned) return tl::unexpected(session->stopped(tuned.error(), file.string()));
  HONE_TRY(output::write_report(session->store(), chosen.store, chosen.tuning.out / "report.html"));
  if (chosen.tuning.part.is_shard()) return print_part(chosen, context, tuned->not_tuned);
  return print_result(*session, *tuned);
}

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
  HONE_ASSIGN(auto listed, triton::listed_gemms(options.gemms, path));
  HONE_ASSIGN(const std::unique_ptr<ListSession> session,
              ListSession::open(std::move(options), "triton", std::move(listed)));
  Result<std::vector<tune::CheckedCandidate>> checked =
      tune::check_candidates(session->context(), run_row(session->options()), list);
  session->status().clear();
  if (!checked) return tl::unexpected(session->stopped(checked.error(), session->options().store));
  if (session->options().json)
    output::print_document(nlohmann::json::object({{"checked", table_of(*checked).to_json()}}));
  else
    fmt::print("{}", table_of(*checked).to_text());
  return std::ranges::all_of(*checked, [](const auto& each) { return each.failure.empty(); }) ? 0
                                                                                              : 1;
}

}  // namespace hone::cli
