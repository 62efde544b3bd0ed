#include <algorithm>
#include <functional>

#include "base/file.h"
#include "base/response_file.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/tune_options.h"
#include "output/accuracy_table.h"
#include "output/candidate_table.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/proof_text.h"
#include "output/report_page.h"
#include "output/session_report.h"
#include "output/status_line.h"
#include "output/time_report.h"
#include "provider/iree/compiler/weights_in_blocks.h"
#include "provider/iree/compiler/wide_sums.h"
#include "provider/iree/gpu/matrix_instructions.h"
#include "provider/iree/iree_provider.h"
#include "session/input_program.h"
#include "session/program_session.h"
#include "session/registry.h"
#include "session/replacing_kernels.h"
#include "session/toolchain.h"
#include "tune/tuning_run.h"

namespace hone::cli {
namespace {

nlohmann::json document_of(const SessionOptions& options, const tune::FlagSet& tuned_with,
                           const tune::TuningResult& result) {
  const std::filesystem::path& out = options.tuning.out;
  nlohmann::json document{
      {"schema_version", output::kSchemaVersion},
      {"program", options.tuning.input},
      {"model", options.model.empty() ? nlohmann::json() : nlohmann::json(options.model)},
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
      {"proof_script",
       result.proof_script.empty() ? nlohmann::json() : nlohmann::json(result.proof_script)},
      {"machine", {{"noise", result.machine.noise}, {"state", result.machine.state}}},
      {"search", nlohmann::json::array()},
      {"left_out", nlohmann::json::array()},
      {"not_tuned", nlohmann::json::array()}};
  if (result.best)
    for (const tune::LeftOut& left_out : result.best->left_out)
      document["left_out"].push_back(
          {{"dispatch", left_out.dispatch}, {"sizes", ""}, {"reason", left_out.reason}});
  for (const tune::ProgramTuningResult& session : result.at_sizes) {
    const std::string sizes = problem::to_string(session.sizes);
    for (const tune::LeftOut& left_out : session.proven.left_out)
      document["left_out"].push_back(
          {{"dispatch", left_out.dispatch}, {"sizes", sizes}, {"reason", left_out.reason}});
    for (const tune::NotTuned& not_tuned : session.not_tuned)
      document["not_tuned"].push_back(
          {{"dispatch", not_tuned.dispatch}, {"sizes", sizes}, {"reason", not_tuned.reason}});
    for (const tune::TunedDispatch& tuned : session.tuned)
      document["search"].push_back(
          {{"dispatch", tuned.dispatch->name}, {"sizes", sizes}, {"search", tuned.search}});
  }
  return document;
}

// Prints the dispatches that cannot be tuned, a line for each reason. Then prints those that the
// plan skipped: of many the heaviest, since the others take next to no time.
void print_not_tuned(const std::vector<tune::NotTuned>& all, const std::string& at) {
  constexpr std::size_t kMostListed = 5;
  std::vector<const tune::NotTuned*> by_plan;
  std::vector<std::pair<const tune::NotTuned*, std::size_t>> by_reason;  // the first, how many
  for (const tune::NotTuned& each : all) {
    if (each.share > 0) {
      by_plan.push_back(&each);
      continue;
    }
    const auto same = std::ranges::find_if(
        by_reason, [&](const auto& known) { return known.first->reason == each.reason; });
    if (same == by_reason.end())
      by_reason.emplace_back(&each, 1);
    else
      ++same->second;
  }
  for (const auto& [first, count] : by_reason) {
    const std::string more = count > 1 ? fmt::format(" and {} more", count - 1) : std::string();
    fmt::print("not tuned{}: {}{}: {}\n", at, first->dispatch, more, first->reason);
  }
  std::ranges::stable_sort(by_plan, std::greater(), &tune::NotTuned::share);
  double others = 0;
  for (std::size_t i = 0; i < by_plan.size(); ++i)
    if (i < kMostListed)
      fmt::print("not tuned{}: {}: {}\n", at, by_plan[i]->dispatch, by_plan[i]->reason);
    else
      others += by_plan[i]->share;
  if (by_plan.size() > kMostListed)
    fmt::print(
        "not tuned{}: {} more, {:.1f} % of the dispatches' time together (--json lists them)\n", at,
        by_plan.size() - kMostListed, 100 * others);
}

// Prints results that are not in the tables.
void print_notes(const SessionOptions& options, const tune::TuningResult& result) {
  for (const tune::ProgramTuningResult& session : result.at_sizes) {
    const std::string at = result.at_sizes.size() > 1
                               ? fmt::format(" (at {})", problem::to_string(session.sizes))
                               : "";
    print_not_tuned(session.not_tuned, at);
    for (const tune::LeftOut& left_out : session.proven.left_out)
      fmt::print("left out of the spec{}: {}: {}\n", at, left_out.dispatch, left_out.reason);
  }
  if (result.best)
    for (const tune::LeftOut& left_out : result.best->left_out)
      fmt::print("left out of the spec with the flags of '{}': {}: {}\n", result.best->label,
                 left_out.dispatch, left_out.reason);
  fmt::print("{}", output::proof_text(result));
  if (result.best) fmt::print("best for the whole program: {}\n", result.best->label);
  const bool unproved = result.best && !result.best->uses_spec();
  const std::string_view advice =
      unproved ? " (not recommended: no gain of it is proved in the whole program)" : "";
  if (!result.spec.empty())
    fmt::print("spec: {}{}\n", (options.tuning.out / "tuning_spec.mlir").string(), advice);
  if (!result.replaced.empty())
    fmt::print("kernels in the place of the compiler's: {} in {}{}\n", result.replaced.size(),
               (options.tuning.out / "kernels").string(), advice);
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
  HONE_TRY(write_file_atomically(out / "results.json", output::json_text(table.to_json()) + "\n"));
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

CommandResult print_result(const SessionOptions& options, store::Store& store,
                           tune::Context& context, const tune::TuningResult& result) {
  const store::Id program = result.at_sizes.front().program_id;
  HONE_ASSIGN(const output::Table dispatches,
              output::dispatch_table(store, program, result.baseline.build, context.device,
                                     core_library_columns()));
  HONE_ASSIGN(const output::Table programs, output::program_table(store, program, result.run));
  std::map<store::Id, output::Spent> spent;
  for (const tune::ProgramTuningResult& session : result.at_sizes)
    for (const tune::TunedDispatch& tuned : session.tuned)
      spent[tuned.id] = {tuned.seconds, tuned.busy_seconds};
  HONE_ASSIGN(const output::GpuReport gpu,
              output::gpu_report(store, program, result.baseline.build, context.device, spent,
                                 gpu_library_columns()));
  const std::filesystem::path& out = options.tuning.out;
  if (options.json) {
    nlohmann::json document = document_of(options, result.baseline.extra_flags, result);
    document["dispatches"] = dispatches.to_json();
    document["programs"] = programs.to_json();
    document["accuracy"] = output::accuracy_table(result).to_json();
    document["wrong_by_default"] = result.wrong_by_default;
    document["unchecked_outputs"] = result.unchecked_outputs;
    document["unverified_dispatches"] = result.unverified_dispatches;
    document["repaired"] = result.best ? result.best->repairs : std::vector<std::string>();
    if (result.best && result.best->repaired_error)
      document["repaired_error"] = *result.best->repaired_error;
    document["time_budget"] = output::time_table(context.state->time).to_json();
    if (options.tuning.traits().own_memory) {
      document["gpu"] = gpu.table.to_json();
      document["notes"] = gpu.notes;
    }
    document["verdict"] = {{"outcome", tune::name_of(result.outcome.outcome)},
                           {"reason", result.outcome.reason}};
    fmt::print("{}\n", output::json_text(document));
    return tune::exit_code(result.outcome);
  }
  if (!result.default_failure.empty()) {
    if (result.best) fmt::print("flags: {}\n", (out / "compile_flags.txt").string());
    fmt::print("{}", tune::last_line(result.outcome));
    return tune::exit_code(result.outcome);
  }
  fmt::print("{}", dispatches.to_text());
  if (options.tuning.traits().own_memory) {
    fmt::print("\n{}", gpu.table.to_text());
    for (const std::string& note : gpu.notes) fmt::print("{}\n", note);
  }
  if (!programs.empty()) fmt::print("\n{}", programs.to_text());
  // List the kernels with the largest rounding only; --json has all.
  constexpr std::size_t kListed = 6;
  if (const output::Table accuracy = output::accuracy_table(result, kListed); !accuracy.empty())
    fmt::print("\n{}", accuracy.to_text());
  fmt::print("\n");
  print_notes(options, result);
  if (options.tuning.traits().own_memory)
    fmt::print("\n{}\n", output::time_table(context.state->time).to_text());
  if (!options.model.empty())
    fmt::print("program: {}, made of {}\n", options.tuning.input, options.model);
  fmt::print("flags: {}\n", (out / "compile_flags.txt").string());
  if (!result.proof_script.empty())
    fmt::print("without hone: sh {}\n", shell_word(result.proof_script.string()));
  fmt::print("report: {}\n", (out / "report.html").string());
  fmt::print("{}{}{}", output::wrong_by_default_text(result, options.tuning.input),
             output::closing_summary(result, (out / "compile_flags.txt").string()),
             tune::last_line(result.outcome));
  return tune::exit_code(result.outcome);
}

// Makes a spec among the user's flags the starter spec. As a flag it would keep the compiler from
// applying the candidates' configurations.
Status take_starter_spec(SessionOptions& options) {
  HONE_ASSIGN(const iree::IreeProvider provider, make_provider(options.toolchain, {}));
  const auto named = provider.take_spec(options.toolchain.flags);
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

// Compiles for a GPU that this machine need not have.
CommandResult compile_program(TuneOptions& options) {
  const auto target = gpu_of(options.toolchain);
  if (!target) return input_error("--compile-only needs a GPU for --target: sm_80, gfx942, ...");
  if (!options.model_tuner.output_spec.empty())
    return input_error(
        "--compile-only measures nothing, so that no spec is found: leave --output-td-spec out, or "
        "tune where the GPU is");
  HONE_ASSIGN(options.tuning.budget_seconds,
              parse_duration(options.budget.empty() ? "10m" : options.budget));
  options.tuning.environment = options.toolchain.environment;
  options.tuning.flags = compile_flags(options.toolchain);
  HONE_ASSIGN(const ReplacingTools tools, find_replacing_for(options, target->arch));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(InputProgram input,
              read_program(options.tuning.input, toolchain, options.tuning.out));
  HONE_TRY(make_weights_opaque(input, options.tuning.out));
  print_notes_of(input);
  options.tuning.input = input.path;
  HONE_ASSIGN(const iree::IreeProvider provider,
              make_provider(options.toolchain, toolchain.installation()));
  HONE_ASSIGN(const std::vector<Replacing> workers,
              start_replacing(tools, options.toolchain, toolchain));
  std::vector<const provider::Provider*> replacing;
  for (const Replacing& each : workers) replacing.push_back(each.provider.get());
  HONE_ASSIGN(problem::Program program, load_for_target(toolchain.compiler(), options.toolchain,
                                                        options.tuning.input, input.bytes));
  const bool names_spec = std::ranges::any_of(options.toolchain.flags, [](const auto& flag) {
    return flag.starts_with(iree::kTransformSpecFlag);
  });
  if (needs_wide_sums(*target, program) && !names_spec) {
    HONE_ASSIGN(program, load_with_wide_sums(toolchain, options, input.bytes));
  }
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  // Use the row that a tuning on the device interns: it then finds the artifacts compiled here.
  HONE_ASSIGN(const store::Id build_id,
              store.intern(build_row(toolchain, options.tuning, target, {})));
  output::StatusLine status(output::verbosity_of(options.quiet, options.plain, options.json));
  const std::string note = target_note(options.toolchain);
  if (!note.empty()) say("{}\n", note);
  HONE_ASSIGN(const tune::CompiledProgram compiled,
              tune::compile_only({toolchain.compiler(), provider, replacing, store, options.tuning,
                                  *target, build_id, status},
                                 std::move(program), run_row(options)));
  status.clear();
  HONE_TRY(write_file_atomically(options.tuning.out / "compile_flags.txt",
                                 response_file(options.tuning.flags)));
  return print_compiled(options, store, compiled);
}

}  // namespace

CommandResult tune_program(TuneOptions options) {
  HONE_TRY(take_starter_spec(options));
  if (options.compile_only && options.names_provider("triton"))
    return input_error(
        "--compile-only compiles IREE's own kernels: leave out --provider iree,triton");
  if (options.compile_only) return compile_program(options);
  // Give the sizes to the tuner, which loads the program at each set. The toolchain would start
  // with one.
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  options.toolchain.sizes.clear();
  options.searches = true;
  const std::string output_spec = options.model_tuner.output_spec;
  return with_program_session(std::move(options), [&](ProgramSession& session) -> CommandResult {
    if (session.options.tuning.prove) session.status.then("the proof");
    Result<tune::TuningResult> result =
        tune::tune_program(session.context, run_row(session.options), sizes);
    session.status.clear();
    if (!result) return tl::unexpected(session.stopped(result.error()));
    const SessionOptions& chosen = session.options;
    HONE_TRY(output::write_report(session.store, chosen.store, chosen.tuning.out / "report.html"));
    HONE_TRY(write_results(session, *result, output_spec));
    return print_result(chosen, session.store, session.context, *result);
  });
}

}  // namespace hone::cli
