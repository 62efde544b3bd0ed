#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/common_options.h"
#include "cli/tune_options.h"
#include "device/cpu/target.h"
#include "output/accuracy_table.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/proof_text.h"
#include "output/report_page.h"
#include "output/screen.h"
#include "output/session_report.h"
#include "output/status_line.h"
#include "output/tuning_summary.h"
#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/compiler/transform_specs.h"
#include "provider/iree/gpu/space.h"
#include "provider/iree/iree_provider.h"
#include "session/emulated_runners.h"
#include "session/input_program.h"
#include "session/proof_record.h"
#include "session/registry.h"
#include "session/replacing_kernels.h"
#include "session/sessions.h"
#include "session/toolchain.h"
#include "session/travelling_work.h"
#include "tune/flag_baseline.h"
#include "tune/tuning_run.h"

namespace hone::cli {
namespace {

nlohmann::json document_of(const SessionOptions& options, const tune::FlagSet& tuned_with,
                           const tune::TuningResult& result) {
  const std::filesystem::path& out = options.tuning.out;
  nlohmann::json document{
      {"program", options.tuning.input},
      {"model", output::text_or_null(options.model)},
      {"sizes", output::names_of_sizes(result)},
      {"threads", options.tuning.place().address.cores.size()},
      {"gpu", nlohmann::json()},
      {"notes", nlohmann::json::array()},
      {"tuned_with", {{"name", tuned_with.name}, {"flags", tuned_with.flags}}},
      {"best", result.best ? result.best->label : ""},
      {"proof", output::proof_json(result)},
      {"gains", output::gains_json(result)},
      {"outputs", output::outputs_json(result)},
      {"spec", result.spec.empty() ? nlohmann::json() : nlohmann::json(out / "tuning_spec.mlir")},
      {"kernels", result.replaced.empty() ? nlohmann::json() : nlohmann::json(out / "kernels")},
      {"compile_flags", out / "compile_flags.txt"},
      {"proof_script", output::text_or_null(result.proof_script.string())},
      {"machine", {{"noise", result.machine.noise}, {"state", result.machine.state}}},
      {"search", nlohmann::json::array()},
      {"left_out", nlohmann::json::array()},
      {"not_tuned", nlohmann::json::array()}};
  const auto add = [&](const char* list, const auto& skipped, const std::string& sizes) {
    for (const auto& each : skipped) {
      nlohmann::json& row = document[list].emplace_back(
          nlohmann::json{{"dispatch", each.dispatch}, {"sizes", sizes}, {"reason", each.reason}});
      if constexpr (requires { each.share; }) row["share_percent"] = 100 * each.share;
    }
  };
  if (result.best) add("left_out", result.best->left_out, "");
  for (const tune::ProgramTuningResult& session : result.at_sizes) {
    const std::string sizes = problem::to_string(session.sizes);
    add("left_out", session.proven.left_out, sizes);
    add("not_tuned", session.not_tuned, sizes);
    for (const tune::TunedDispatch& tuned : session.tuned)
      document["search"].push_back(
          {{"dispatch", tuned.dispatch->name}, {"sizes", sizes}, {"search", tuned.search}});
  }
  return document;
}

// Writes the files that other tools read beside the report, and the spec where --output-td-spec
// wants it.
Status write_results(const ProgramSession& session, const tune::TuningResult& result,
                     const std::string& output_spec) {
  const auto& [options, store, context, status] = session;
  const std::filesystem::path& out = options.tuning.out;
  const store::Id program = result.at_sizes.front().program_id;
  HONE_ASSIGN(const output::Table table,
              output::candidate_table(store, program, result.baseline.build, context.device));
  HONE_TRY(write_file_atomically(out / "results.csv", table.to_csv()));
  HONE_TRY(output::write_json(out / "results.json", table.to_json()));
  HONE_ASSIGN(const std::string log,
              output::candidate_log(store, program, result.baseline.build, context.device));
  const std::string model =
      std::filesystem::path(options.model.empty() ? options.tuning.input : options.model)
          .stem()
          .string();
  HONE_TRY(write_file_atomically(out / (model + "_results.log"), log));
  if (output_spec.empty() || result.spec.empty()) return {};
  return write_file_atomically(output_spec, result.spec);
}

// Tables that --json and --verbose print of a finished tuning.
struct ResultTables {
  output::Table dispatches, programs;
  output::GpuReport gpu;
};

Result<ResultTables> tables_of(store::Store& store, const tune::Context& context,
                               const tune::TuningResult& result) {
  const store::Id program = result.at_sizes.front().program_id;
  HONE_ASSIGN(output::Table dispatches,
              output::dispatch_table(store, program, result.baseline.build, context.device,
                                     core_library_columns()));
  HONE_ASSIGN(output::Table programs, output::program_table(store, program, result.run));
  std::map<store::Id, output::Spent> spent;
  for (const tune::ProgramTuningResult& session : result.at_sizes)
    for (const tune::TunedDispatch& tuned : session.tuned)
      spent[tuned.id] = {tuned.seconds, tuned.busy_seconds};
  HONE_ASSIGN(output::GpuReport gpu,
              output::gpu_report(store, program, result.baseline.build, context.device, spent,
                                 gpu_library_columns()));
  return ResultTables{std::move(dispatches), std::move(programs), std::move(gpu)};
}

Status print_json(const SessionOptions& options, store::Store& store, tune::Context& context,
                  const tune::TuningResult& result) {
  HONE_ASSIGN(const ResultTables tables, tables_of(store, context, result));
  nlohmann::json document = document_of(options, result.baseline.extra_flags, result);
  document["dispatches"] = tables.dispatches.to_json();
  document["programs"] = tables.programs.to_json();
  document["accuracy"] = output::accuracy_table(result).to_json();
  document["wrong_by_default"] = result.wrong_by_default;
  document["unchecked_outputs"] = result.unchecked_outputs;
  document["unverified_dispatches"] = result.unverified_dispatches;
  document["repaired"] = result.best ? result.best->repairs : std::vector<std::string>();
  if (result.best && result.best->repaired_error)
    document["repaired_error"] = *result.best->repaired_error;
  document["time_budget"] = output::time_table(context.state->time).to_json();
  if (options.tuning.traits().own_memory) {
    document["gpu"] = tables.gpu.table.to_json();
    document["notes"] = tables.gpu.notes;
  }
  document["verdict"] = {{"outcome", tune::name_of(result.outcome.outcome)},
                         {"reason", result.outcome.reason}};
  output::print_document(std::move(document));
  return {};
}

// Prints what the summary leaves out: whole tables, each skipped dispatch, each entry's gain.
Status print_details(const SessionOptions& options, store::Store& store, tune::Context& context,
                     const tune::TuningResult& result) {
  HONE_ASSIGN(const ResultTables tables, tables_of(store, context, result));
  fmt::print("\n{}\n{}\n", tables.dispatches.to_text(), tables.programs.to_text());
  if (options.tuning.traits().own_memory)
    fmt::print("{}{}\n\n", tables.gpu.table.to_text(), fmt::join(tables.gpu.notes, "\n"));
  if (const output::Table accuracy = output::accuracy_table(result); !accuracy.empty())
    fmt::print("{}\n", accuracy.to_text());
  for (const tune::ProgramTuningResult& session : result.at_sizes) {
    const std::string at = result.at_sizes.size() > 1
                               ? fmt::format(" (at {})", problem::to_string(session.sizes))
                               : "";
    for (const tune::NotTuned& each : session.not_tuned)
      fmt::print("not tuned{}: {}, {:.1f} % of the time: {}\n", at, each.dispatch, 100 * each.share,
                 each.reason);
    for (const tune::LeftOut& each : session.proven.left_out)
      fmt::print("not in the spec{}: {}: {}\n", at, each.dispatch, each.reason);
  }
  fmt::print("{}\n{}", output::proof_text(result),
             output::time_table(context.state->time).to_text());
  return {};
}

CommandResult print_result(const SessionOptions& options, store::Store& store,
                           tune::Context& context, const tune::TuningResult& result) {
  if (options.json) {
    HONE_TRY(print_json(options, store, context, result));
    return tune::exit_code(result.outcome);
  }
  const tune::ProgramTuningResult& first = result.at_sizes.front();
  double skipped = 0;
  for (const tune::NotTuned& each : first.not_tuned) skipped += each.share;
  HONE_ASSIGN(output::Table tuned,
              output::tuned_table(store, first.program_id, result.baseline.build, context.device,
                                  std::max(0.0, 1 - skipped)));
  const std::string use = fmt::format(
      "iree-compile {} @{} -o {}", shell_word(options.tuning.input),
      shell_word((options.tuning.out / "compile_flags.txt").string()),
      shell_word(std::filesystem::path(options.tuning.input).stem().string() + ".vmfb"));
  fmt::print("{}", output::tuning_summary(
                       {result, options.tuning.input, !options.model.empty(), use,
                        options.tuning.out, std::move(tuned), context.state->time.rows()},
                       std::min(output::screen_width(), output::kSummaryWidth)));
  if (options.verbose) HONE_TRY(print_details(options, store, context, result));
  return tune::exit_code(result.outcome);
}

// Makes a spec among the user's flags the starter spec. As a flag it would keep the compiler from
// applying the candidates' configurations.
Status take_starter_spec(SessionOptions& options) {
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, {}));
  const auto named = provider->specs().take_spec(options.toolchain.flags);
  std::filesystem::path& starter = options.tuning.starter_spec;
  if (named && !starter.empty() && *named != starter)
    return input_error("--starter-spec is '{}', and a flag names the spec '{}': link them first",
                       starter.string(), named->string());
  if (named) starter = *named;
  return {};
}

// Returns whether the target's matrix units take f16 but cannot add up in f16: such a dispatch does
// not compile there.
bool needs_wide_sums(const problem::GpuTarget& target, const problem::Program& program) {
  using enum problem::ElementType;
  return !iree::matrix_instructions(target, kF16, kF32).empty() &&
         iree::matrix_instructions(target, kF16, kF16).empty() && iree::has_narrow_sums(program);
}

// Splits the program again with its f16 sums in f32, by a flag that ships with the others.
Result<problem::Program> load_with_wide_sums(Toolchain& toolchain, SessionOptions& options,
                                             const std::string& bytes) {
  const std::filesystem::path file =
      std::filesystem::absolute(options.tuning.out / "f16_sums_in_f32.mlir");
  HONE_TRY(write_file_atomically(file, iree::wide_sums_spec()));
  options.toolchain.flags.push_back(std::string(iree::kTransformSpecFlag) + file.string());
  options.tuning.flags = compile_flags(options.toolchain);
  say("{} has no matrix instruction with f16 sums: they are f32 here, and results are truncated to "
      "f16, by {}\n",
      options.toolchain.target, options.toolchain.flags.back());
  return load_for_target(toolchain.compiler(), options.toolchain, options.tuning.input, bytes);
}

// Whether sums of the program are to be reordered, as in a tuning (FlagBaseline::add_sums).
bool reorders_sums(const problem::Program& program) {
  return std::ranges::any_of(program.dispatches, [](const problem::Dispatch& dispatch) {
    return dispatch.not_tunable.empty() && tune::reduces_along_lanes(dispatch);
  });
}

// Compiles for a device that this machine need not have.
CommandResult compile_program(TuneOptions& options) {
  const auto target = gpu_of(options.toolchain);
  if (!options.model_tuner.output_spec.empty())
    return input_error(
        "--compile-only measures nothing, so that no spec is found: leave --output-td-spec out, or "
        "tune where the GPU is");
  HONE_TRY(take_effort(options));
  options.tuning.environment = options.toolchain.environment;
  options.tuning.flags = compile_flags(options.toolchain);
  options.tuning.reference_flags = travelling_reference_flags(options.toolchain);
  HONE_ASSIGN(const std::string given, read_file(options.tuning.input));
  HONE_ASSIGN(const problem::CpuTarget cpu, device::cpu::detect_target());
  const auto code_runs_on = target ? std::nullopt : std::optional(cpu);
  HONE_TRY(check_code_travels(options));
  ReplacingTools tools;
  if (target) {
    HONE_ASSIGN(tools, find_replacing_for(options, target->arch));
  } else if (!options.external.empty()) {
    return input_error("--external replaces kernels of GPUs, and --target is a CPU");
  }
  HONE_TRY(make_out(options));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(InputProgram input,
              read_program(options.tuning.input, toolchain, options.tuning.out));
  HONE_TRY(make_weights_opaque(input, options.tuning.out));
  print_notes_of(input);
  options.tuning.input = input.path;
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation()));
  HONE_ASSIGN(const std::vector<Replacing> workers,
              start_replacing(tools, options.toolchain, toolchain));
  std::vector<const provider::Provider*> replacing;
  for (const Replacing& each : workers) replacing.push_back(each.provider.get());
  HONE_ASSIGN(problem::Program program, load_for_target(toolchain.compiler(), options.toolchain,
                                                        options.tuning.input, input.bytes));
  const bool names_spec = std::ranges::any_of(options.toolchain.flags, [](const auto& flag) {
    return flag.starts_with(iree::kTransformSpecFlag);
  });
  if (target && needs_wide_sums(*target, program) && !names_spec) {
    HONE_ASSIGN(program, load_with_wide_sums(toolchain, options, input.bytes));
  }
  HONE_ASSIGN(const problem::Program reference,
              toolchain.compiler().load_program(
                  {options.tuning.input, input.bytes, options.tuning.reference_flags}));
  if (!target && !options.tuning.bit_equal && reorders_sums(program))
    if (const auto sums = iree::reordered_sums(options.tuning.flags))
      options.tuning.flags = tune::joined(options.tuning.flags, sums->flags);
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  // Use the row that a tuning on the device interns: it then finds the artifacts compiled here.
  const store::BuildRow build = build_row(toolchain, options.tuning, target, cpu);
  HONE_ASSIGN(const store::Id build_id, store.intern(build));
  HONE_ASSIGN(tune::PreparedWork prepared,
              work_to_prepare(options, content_hash(given), build, code_runs_on));
  HONE_ASSIGN(const std::optional<EmulatedRunners> emulated,
              EmulatedRunners::open(options, toolchain, store));
  output::StatusLine status(status_style(options));
  print_target_note(options.toolchain);
  HONE_ASSIGN(const tune::CompiledProgram compiled,
              tune::compile_only({toolchain.compiler(), *provider, replacing, store, options.tuning,
                                  target, build_id, status, reference.dispatches,
                                  std::move(prepared), emulated ? &emulated->emulator() : nullptr},
                                 std::move(program), run_row(options)));
  status.clear();
  HONE_TRY(write_file_atomically(options.tuning.out / "compile_flags.txt",
                                 response_file(options.tuning.flags)));
  return print_compiled(options, store, compiled);
}

// Takes what another machine has measured of the program, unless it is not to be tuned for there.
Status take_measured(TuneOptions& options) {
  const Result<std::string> bytes = read_file(options.tuning.input);
  if (!bytes || options.dry_run) return {};  // opening it says what is wrong
  HONE_ASSIGN(options.measured, measured_work(options, content_hash(*bytes)));
  if (!options.measured) return {};
  options.toolchain.target = options.measured->target;
  options.toolchain.flags = options.measured->user_flags;
  return {};
}

}  // namespace

CommandResult tune_program(TuneOptions options) {
  HONE_TRY(take_starter_spec(options));
  // A shard that measures searches what was not compiled for it.
  const bool is_whole = !options.tuning.part.is_shard();
  for (const char* const other : {"triton", "vector"})
    if (options.compile_only && is_whole && options.names_provider(other))
      return input_error("--compile-only compiles IREE's own kernels: leave out --provider iree,{}",
                         other);
  if (options.compile_only && is_whole) return compile_program(options);
  if (options.measure_only && is_whole) return measure_program(std::move(options));
  if (options.compile_only) HONE_TRY(check_code_travels(options));
  HONE_TRY(take_measured(options));
  // Give the sizes to the tuner, which loads the program at each set. The toolchain would start
  // with one.
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  options.toolchain.sizes.clear();
  options.searches = true;
  const std::string output_spec = options.model_tuner.output_spec;
  return with_program_session(std::move(options), [&](ProgramSession& session) -> CommandResult {
    if (session.options.dry_run) return print_tuning_plan(session, sizes);
    const bool proves = session.options.tuning.prove && !session.options.tuning.part.leaves_more();
    if (proves) session.status.then("the proof");
    Result<tune::TuningResult> result =
        tune::tune_program(session.context, run_row(session.options), sizes);
    session.status.clear();
    if (!result) return tl::unexpected(session.stopped(result.error()));
    const SessionOptions& chosen = session.options;
    if (chosen.tuning.part.leaves_more()) {
      std::vector<tune::NotTuned> not_tuned;
      for (const tune::ProgramTuningResult& each : result->at_sizes)
        not_tuned.insert(not_tuned.end(), each.not_tuned.begin(), each.not_tuned.end());
      return print_part(chosen, session.context, not_tuned);
    }
    HONE_TRY(output::write_report(session.store, chosen.store, chosen.tuning.out / "report.html"));
    HONE_TRY(write_results(session, *result, output_spec));
    HONE_ASSIGN(const store::BuildRow build, session.store.build(result->baseline.build));
    HONE_TRY(write_proof(chosen, build.compiler, *result));
    return print_result(chosen, session.store, session.context, *result);
  });
}

}  // namespace hone::cli
