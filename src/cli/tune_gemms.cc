// hone tune --provider triton: GEMMs in, the configurations of the fastest Triton kernels out.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/tune_options.h"
#include "output/compiled_report.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/report_page.h"
#include "output/session_report.h"
#include "output/time_report.h"
#include "session/gemm_results.h"
#include "session/gemm_session.h"
#include "session/registry.h"
#include "tune/dispatch/compile_only.h"

namespace hone::cli {
namespace {

using Entries = std::map<std::string, triton::GemmEntry>;  // by dispatch name

std::filesystem::path results_file(const SessionOptions& options) {
  return options.gemms.results.empty() ? options.tuning.out / "gemms.yaml"
                                       : std::filesystem::path(options.gemms.results);
}

CommandResult print_result(const SessionOptions& options, store::Store& store,
                           tune::Context& context, const Entries& entries,
                           const tune::TunedList& tuned) {
  HONE_ASSIGN(const std::vector<GemmResult> results,
              gemm_results(store, entries, tuned.tuned, context.baseline.build, context.device));
  HONE_ASSIGN(const output::Table dispatches,
              output::dispatch_table(store, tuned.list, context.baseline.build, context.device,
                                     core_library_columns()));
  std::map<store::Id, output::Spent> spent;
  for (const tune::TunedDispatch& each : tuned.tuned)
    spent[each.id] = {each.seconds, each.busy_seconds};
  HONE_ASSIGN(const output::GpuReport gpu,
              output::gpu_report(store, tuned.list, context.baseline.build, context.device, spent,
                                 gpu_library_columns()));
  const bool found = std::any_of(results.begin(), results.end(),
                                 [](const auto& each) { return each.speedup.has_value(); });
  if (options.json) {
    nlohmann::json document{
        {"schema_version", output::kSchemaVersion},
        {"gemms", gemm_table(results).to_json()},
        {"dispatches", dispatches.to_json()},
        {"gpu", gpu.table.to_json()},
        {"notes", gpu.notes},
        {"results", results_file(options)},
        {"time_budget", output::time_table(context.state->time).to_json()},
        {"machine", {{"noise", tuned.machine.noise}, {"state", tuned.machine.state}}},
        {"search", nlohmann::json::array()},
        {"not_tuned", nlohmann::json::array()}};
    for (const tune::TunedDispatch& each : tuned.tuned)
      if (!each.search.strategy.empty())  // not finished by an earlier run
        document["search"].push_back({{"dispatch", each.dispatch->name}, {"search", each.search}});
    for (const tune::NotTuned& not_tuned : tuned.not_tuned)
      document["not_tuned"].push_back(
          {{"dispatch", not_tuned.dispatch}, {"reason", not_tuned.reason}});
    fmt::print("{}\n", output::json_text(document));
    return found ? 0 : 1;
  }
  fmt::print("{}\n{}\n{}", gemm_table(results).to_text(), dispatches.to_text(),
             gpu.table.to_text());
  for (const std::string& note : gpu.notes) fmt::print("{}\n", note);
  fmt::print("\n");
  for (const tune::NotTuned& not_tuned : tuned.not_tuned)
    fmt::print("not tuned: {}: {}\n", not_tuned.dispatch, not_tuned.reason);
  fmt::print("{}\nresults: {}\nreport: {}\n", output::time_table(context.state->time).to_text(),
             results_file(options).string(), (options.tuning.out / "report.html").string());
  return found ? 0 : 1;
}

// For a GPU that is not here.
CommandResult compile_gemms(SessionOptions& options, Gemms gemms) {
  const auto target = gpu_of(options.toolchain);
  if (!target) return input_error("--compile-only needs a GPU for --target: sm_90, gfx942, ...");
  HONE_ASSIGN(const triton::GemmDevice device, triton::gemm_device(target->arch));
  for (const auto& entry : gemms.entries)
    HONE_TRY(check_kernel(gemms.kernel.get(), entry.second, device));
  HONE_TRY(complete(options, device, gemms.list.dispatches.size()));
  HONE_ASSIGN(triton::Installation installation, triton::find_installation(options.gemms.triton));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(TritonToolchain toolchain,
              TritonToolchain::start(std::move(installation), device, options.toolchain));
  const triton::TritonProvider provider(device, space_kind(options.gemms), gemms.kernel);
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(const store::Id build,
              store.intern(triton_build(toolchain.installation(), options.tuning, target->arch)));
  problem::Program list;
  list.path = gemms.list.path;
  list.hash = gemms.list.hash;
  list.dispatches = std::move(gemms.list.dispatches);
  output::StatusLine status(output::verbosity_of(options.quiet, options.plain, options.json));
  HONE_ASSIGN(
      const tune::CompiledProgram compiled,
      tune::compile_only(
          {toolchain.compiler(), provider, {}, store, options.tuning, *target, build, status},
          std::move(list), run_row(options)));
  status.clear();
  HONE_TRY(output::write_report(store, options.store, options.tuning.out / "report.html"));
  HONE_ASSIGN(const std::string text,
              output::compiled_report(target_json(options.toolchain), compiled, options.json,
                                      options.tuning.out / "compiled.json"));
  fmt::print("{}", text);
  return tune::exit_code(tune::verdict_of(compiled));
}

}  // namespace

CommandResult tune_gemms(TuneOptions options) {
  HONE_ASSIGN(Gemms gemms, read_gemms(options.gemms, options.tuning.input));
  if (options.compile_only) return compile_gemms(options, std::move(gemms));
  std::vector<triton::GemmEntry> entries;
  for (const problem::Dispatch& dispatch : gemms.list.dispatches)
    entries.push_back(gemms.entries.at(dispatch.name));
  HONE_ASSIGN(const std::unique_ptr<GemmSession> session,
              GemmSession::open(std::move(options), entries, gemms.list.path, gemms.kernel));
  tune::Context& context = session->context();
  const std::filesystem::path file = results_file(session->options());

  // After every size, so that whatever ends the run, what is finished is in the file.
  const auto write_results = [&](const tune::TunedList& so_far) -> Status {
    HONE_ASSIGN(const std::vector<GemmResult> results,
                gemm_results(session->store(), gemms.entries, so_far.tuned, context.baseline.build,
                             context.device));
    return write_file_atomically(file, results_yaml(results));
  };
  Result<tune::TunedList> tuned =
      tune::tune_list(context, run_row(session->options()), gemms.list, write_results);
  session->status().clear();
  if (!tuned && tuned.error().kind == ErrorKind::kInterrupted)
    return tl::unexpected(session->stopped(file.string()));
  if (!tuned) return tl::unexpected(std::move(tuned).error());
  HONE_TRY(output::write_report(session->store(), session->options().store,
                                session->options().tuning.out / "report.html"));
  return print_result(session->options(), session->store(), context, gemms.entries, *tuned);
}

}  // namespace hone::cli
