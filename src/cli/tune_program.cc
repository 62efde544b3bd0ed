#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/response_file.h"
#include "base/text.h"
#include "cli/compiled_report.h"
#include "cli/core_options.h"
#include "cli/device_options.h"
#include "cli/input_program.h"
#include "cli/program_parameters.h"
#include "cli/providers.h"
#include "cli/report_file.h"
#include "cli/schema_version.h"
#include "cli/status_line.h"
#include "cli/time_report.h"
#include "cli/toolchain.h"
#include "cli/tune_options.h"
#include "cli/version.h"
#include "device/cpu/core_lease.h"
#include "device/cpu/placement.h"
#include "device/cpu/target.h"
#include "measure/sampling.h"
#include "output/gpu_report.h"
#include "output/json_text.h"
#include "output/session_report.h"
#include "provider/iree/iree_provider.h"
#include "tune/tuning_run.h"

namespace hone::cli {
namespace {

// Flags that compete with tuning on a CPU, alone and together (IREE 3.13).
std::vector<tune::FlagSet> competing_flag_sets() {
  return {{"data tiling", {"--iree-opt-data-tiling"}},
          {"data tiling + micro-kernels",
           {"--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"}},
          {"O3", {"--iree-opt-level=O3"}}};
}

constexpr std::string_view kReassociate = "--iree-llvmcpu-reassociate-fp-reductions";

// IREE keeps the order of such sums below its optimisation level O2. Nothing where the user says
// what to do about them.
tune::FlagSet flags_of_sums(const std::vector<std::string>& flags) {
  const bool said = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with(kReassociate) || flag.starts_with("--iree-opt-level") ||
           flag.starts_with("--iree-llvmcpu-mlir-opt-level");
  });
  return said ? tune::FlagSet() : tune::FlagSet{"reordered sums", {std::string(kReassociate)}};
}

store::Build build_row(const Toolchain& toolchain, const tune::Options& options,
                       const std::optional<problem::GpuTarget>& gpu,
                       const problem::CpuTarget& target) {
  store::Build row;
  row.compiler = "IREE " + toolchain.revision();
  row.flags = nlohmann::json(options.flags).dump();
  row.target = gpu ? nlohmann::json{{"gpu", gpu->arch}, {"compiled_as", gpu->compiled_as}}.dump()
                   : nlohmann::json{{"cpu", target.cpu}, {"features", target.features}}.dump();
  return row;
}

Status complete(TuneOptions& options, const problem::CpuTarget& target,
                const std::vector<device::cuda::Facts>& gpus) {
  tune::Options& tuning = options.tuning;
  const device::cuda::Facts* const gpu = gpus.empty() ? nullptr : &gpus.front();
  HONE_ASSIGN(tuning.budget_seconds,
              parse_duration(options.budget.empty() ? "10m" : options.budget));
  HONE_ASSIGN(tuning.cores, choose_cores(options.cores));
  tuning.flags = compile_flags(options.toolchain);
  tuning.reference_flags = reference_flags(options.toolchain);
  if (gpu == nullptr) {
    tuning.flag_sets = competing_flag_sets();
    tuning.sums = flags_of_sums(tuning.flags);
  }
  tuning.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
  tuning.last_level_cache =
      gpu != nullptr ? gpu->l2_bytes : std::max(target.l3_bytes, target.l2_bytes);
  tuning.reuse = options.reuse == "any" ? store::Reuse::kAny : store::Reuse::kEqualIdentities;
  tuning.trust = options.trust ? store::Trust::kAnyone : store::Trust::kOwn;
  tuning.prove = !options.no_program;
  tuning.function = options.runtime.function;
  HONE_ASSIGN(tuning.inputs, given_arguments(options.runtime));
  HONE_ASSIGN(tuning.runtime_flags, runtime_flags(options.runtime));
  if (gpu == nullptr) return {};
  tuning.cuda = gpu->index;
  for (std::size_t i = 1; i < gpus.size(); ++i) tuning.more_gpus.push_back(gpus[i].index);
  tuning.assemble_for = gpu->arch();
  // One core is each runner's.
  if (options.toolchain.jobs == 0)
    options.toolchain.jobs = std::max(
        1, static_cast<int>(device::cpu::available_cores().size()) - static_cast<int>(gpus.size()));
  tuning.compile_ahead = 2 * static_cast<std::size_t>(options.toolchain.jobs);
  return {};
}

// Of those that were given.
std::vector<std::string> names_of(const std::vector<tune::SessionResult>& at_sizes) {
  std::vector<std::string> names;
  for (const tune::SessionResult& session : at_sizes)
    if (!session.sizes.empty()) names.push_back(problem::to_string(session.sizes));
  return names;
}

// Of rounds that did not choose what they are about.
nlohmann::json proof_json(const tune::TuningResult& result) {
  if (!result.candidate || !result.verdict) return nullptr;
  return tune::json_of(*result.verdict, *result.candidate);
}

// "1.31x [1.28, 1.34] at M=1, 0.99x [0.97, 1.01] at M=512".
std::string words_of(const tune::Claim& claim, const std::vector<std::string>& sizes) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < claim.at_sizes.size(); ++i) {
    const measure::PairedComparison& each = claim.at_sizes[i];
    words.push_back(fmt::format("{:.2f}x [{:.2f}, {:.2f}]{}", 1 / each.ratio,
                                1 / each.interval.high, 1 / each.interval.low,
                                i < sizes.size() ? " at " + sizes[i] : ""));
  }
  std::string text = fmt::format("{}, {}", measure::name_of(claim.verdict), fmt::join(words, ", "));
  if (words.size() > 1)
    text += fmt::format("; slower at no size: by no more than {:.1f} %", 100 * claim.margin);
  return text;
}

// What rounds that chose nothing say, flags and spec apart.
void print_proof(const tune::TuningResult& result) {
  if (!result.candidate || !result.verdict) return;
  const tune::ProgramVerdict& verdict = *result.verdict;
  const std::vector<std::string> sizes = names_of(result.at_sizes);
  fmt::print(
      "proof, by rounds of its own (of programs that nothing makes faster at most {:.0f} % get a "
      "recommendation):\n",
      100 * tune::kRecommendedInError);
  fmt::print("  {} against default: {}\n", result.candidate->name, words_of(verdict.chosen, sizes));
  if (!verdict.spec) return;
  fmt::print("  of that the spec, against {}: {}\n", result.candidate->without_spec,
             words_of(*verdict.spec, sizes));
  fmt::print("  of that the flags, {} against default: {}\n", result.candidate->without_spec,
             words_of(*verdict.flags, sizes));
}

nlohmann::json document_of(const TuneOptions& options, const tune::TuningResult& result) {
  const std::filesystem::path& out = options.tuning.out;
  nlohmann::json document{
      {"schema_version", kSchemaVersion},
      {"program", options.tuning.input},
      {"model", options.model.empty() ? nlohmann::json() : nlohmann::json(options.model)},
      {"sizes", names_of(result.at_sizes)},
      {"threads", options.tuning.cores.size()},
      {"gpu", nlohmann::json()},
      {"notes", nlohmann::json::array()},
      {"best", result.best ? result.best->name : ""},
      {"proof", proof_json(result)},
      {"spec", result.spec.empty() ? nlohmann::json() : nlohmann::json(out / "tuning_spec.mlir")},
      {"compile_flags", out / "compile_flags.txt"},
      {"machine", {{"noise", result.machine.noise}, {"state", result.machine.state}}},
      {"search", nlohmann::json::array()},
      {"left_out", nlohmann::json::array()},
      {"not_tuned", nlohmann::json::array()}};
  if (result.best)
    for (const tune::LeftOut& left_out : result.best->left_out)
      document["left_out"].push_back(
          {{"dispatch", left_out.dispatch}, {"sizes", ""}, {"reason", left_out.reason}});
  for (const tune::SessionResult& session : result.at_sizes) {
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

// What is not in the tables.
void print_notes(const TuneOptions& options, const tune::TuningResult& result) {
  for (const tune::SessionResult& session : result.at_sizes) {
    const std::string at = result.at_sizes.size() > 1
                               ? fmt::format(" (at {})", problem::to_string(session.sizes))
                               : "";
    for (const tune::NotTuned& not_tuned : session.not_tuned)
      fmt::print("not tuned{}: {}: {}\n", at, not_tuned.dispatch, not_tuned.reason);
    for (const tune::LeftOut& left_out : session.proven.left_out)
      fmt::print("left out of the spec{}: {}: {}\n", at, left_out.dispatch, left_out.reason);
  }
  if (result.best)
    for (const tune::LeftOut& left_out : result.best->left_out)
      fmt::print("left out of the spec with the flags of '{}': {}: {}\n", result.best->name,
                 left_out.dispatch, left_out.reason);
  print_proof(result);
  if (result.best) fmt::print("best for the whole program: {}\n", result.best->name);
  if (result.spec.empty()) return;
  const bool unproved = result.best && !result.best->uses_spec();
  fmt::print("spec: {}{}\n", (options.tuning.out / "tuning_spec.mlir").string(),
             unproved ? " (not recommended: no gain of it is proved in the whole program)" : "");
}

CommandResult print_result(const TuneOptions& options, store::Store& store, tune::Context& context,
                           const tune::TuningResult& result) {
  const store::Id program = result.at_sizes.front().program_id;
  HONE_ASSIGN(const output::Table dispatches,
              output::dispatch_table(store, program, context.build, context.device,
                                     core_library_columns()));
  HONE_ASSIGN(const output::Table programs, output::program_table(store, program, result.run));
  std::map<store::Id, output::Spent> spent;
  bool found = false;
  for (const tune::SessionResult& session : result.at_sizes)
    for (const tune::TunedDispatch& tuned : session.tuned) {
      spent[tuned.id] = {tuned.seconds, tuned.busy_seconds};
      found = found || tuned.attributes.has_value();
    }
  HONE_ASSIGN(const output::GpuReport gpu,
              output::gpu_report(store, program, context.build, context.device, spent,
                                 gpu_library_columns()));
  const std::filesystem::path& out = options.tuning.out;
  if (options.json) {
    nlohmann::json document = document_of(options, result);
    document["dispatches"] = dispatches.to_json();
    document["programs"] = programs.to_json();
    document["time_budget"] = time_table(context.time).to_json();
    if (options.tuning.cuda) {
      document["gpu"] = gpu.table.to_json();
      document["notes"] = gpu.notes;
    }
    fmt::print("{}\n", output::json_text(document));
    return found ? 0 : 1;
  }
  fmt::print("{}", dispatches.to_text());
  if (options.tuning.cuda) {
    fmt::print("\n{}", gpu.table.to_text());
    for (const std::string& note : gpu.notes) fmt::print("{}\n", note);
  }
  if (!programs.empty()) fmt::print("\n{}", programs.to_text());
  fmt::print("\n");
  print_notes(options, result);
  if (options.tuning.cuda) fmt::print("\n{}\n", time_table(context.time).to_text());
  if (!options.model.empty())
    fmt::print("program: {}, made of {}\n", options.tuning.input, options.model);
  fmt::print("flags: {}\n", (out / "compile_flags.txt").string());
  fmt::print("report: {}\n", (out / "report.html").string());
  if (!found) fmt::print("No dispatch has a configuration that beats the compiler's own.\n");
  return found ? 0 : 1;
}

// For a GPU that is not here.
CommandResult compile_program(TuneOptions& options) {
  const auto target = gpu_of(options.toolchain);
  if (!target) return input_error("--compile-only needs a GPU for --target: sm_80, gfx942, ...");
  HONE_ASSIGN(options.tuning.budget_seconds,
              parse_duration(options.budget.empty() ? "10m" : options.budget));
  options.tuning.flags = compile_flags(options.toolchain);
  HONE_TRY(make_out(options));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const InputProgram input,
              read_program(options.tuning.input, toolchain, options.tuning.out));
  print_notes_of(input);
  options.tuning.input = input.path;
  HONE_ASSIGN(const iree::IreeProvider provider,
              make_provider(options.toolchain, toolchain.installation()));
  HONE_ASSIGN(problem::Program program, load_for_target(toolchain.compiler(), options.toolchain,
                                                        options.tuning.input, input.bytes));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  // The same as of a tuning on the device, which then finds what was compiled here.
  HONE_ASSIGN(const store::Id build_id,
              store.intern(build_row(toolchain, options.tuning, target, {})));
  StatusLine status(verbosity_of(options.quiet, options.plain, options.json));
  const std::string note = target_note(options.toolchain);
  if (!note.empty()) fmt::print(stderr, "{}\n", note);
  HONE_ASSIGN(const tune::CompiledProgram compiled,
              tune::compile_only(toolchain.compiler(), provider, store, options.tuning, *target,
                                 std::move(program), build_id, run_row(options), status));
  status.clear();
  HONE_TRY(write_file_atomically(options.tuning.out / "compile_flags.txt",
                                 response_file(options.tuning.flags)));
  HONE_TRY(write_report(store, options.store, options.tuning.out / "report.html"));
  HONE_TRY(print_compiled(options.toolchain, compiled, options.json,
                          options.tuning.out / "compiled.json"));
  const bool any = std::any_of(compiled.dispatches.begin(), compiled.dispatches.end(),
                               [](const auto& each) { return each.compiled > 0; });
  return any ? 0 : 1;
}

// The program as the compiler takes it, and what it needs to run; what to say of it.
Result<std::vector<std::string>> use_input(TuneOptions& options, const Toolchain& toolchain) {
  const std::string given = options.tuning.input;
  HONE_ASSIGN(InputProgram input, read_program(given, toolchain, options.tuning.out));
  options.tuning.input = input.path;
  if (input.path != given) options.model = given;
  if (!options.tuning.prove) return std::move(input.notes);
  HONE_ASSIGN(const std::vector<std::string> flags,
              parameter_flags(options.runtime, given, input, std::filesystem::temp_directory_path(),
                              options.tuning.seed));
  std::vector<std::string>& all = options.tuning.runtime_flags;
  all.insert(all.end(), flags.begin(), flags.end());
  return std::move(input.notes);
}

}  // namespace

CommandResult tune_program(TuneOptions options) {
  if (options.compile_only) return compile_program(options);
  // The tuner's, which loads the program at each; not the toolchain's, which is started with one.
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  options.toolchain.sizes.clear();
  HONE_ASSIGN(const problem::CpuTarget target, device::cpu::detect_target());
  HONE_ASSIGN(const std::vector<device::cuda::Facts> gpus,
              choose_gpus(options.device, options.toolchain));
  HONE_TRY(complete(options, target, gpus));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  const store::Device device =
      gpus.empty() ? cpu_row(options.tuning) : gpu_row(options.tuning, gpus.front());
  // Before anything is started: who is refused must not disturb who measures.
  HONE_ASSIGN(const std::vector<device::LockFile> gpu_leases, lease_gpus(gpus));
  std::optional<device::cpu::CoreLease> lease;
  if (gpus.empty()) {
    HONE_ASSIGN(lease, device::cpu::CoreLease::acquire(options.tuning.cores));
  }
  // Of cores that were named, others may be another tuner's: it measures while this one compiles.
  if (!options.cores.cores.empty()) HONE_TRY(device::cpu::stay_on(options.cores.cores));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const std::vector<std::string> notes, use_input(options, toolchain));
  HONE_ASSIGN(const iree::IreeProvider provider,
              make_provider(options.toolchain, toolchain.installation(),
                            static_cast<int>(options.tuning.cores.size())));
  const std::string note = target_note(options.toolchain);
  tune::RunnerService runner(toolchain.make_runner(), options.kernel_seconds);
  std::vector<tune::RunnerService> more_runners;
  for (std::size_t i = 1; i < gpus.size(); ++i)
    more_runners.emplace_back(toolchain.make_runner(), options.kernel_seconds);
  StatusLine status(verbosity_of(options.quiet, options.plain, options.json));
  if (options.tuning.prove) status.then("the proof");
  HONE_ASSIGN(tune::LeaseKeeper leases, tune::LeaseKeeper::start(store, toolchain.stop_fd()));
  if (!note.empty()) status.note(note);
  for (const std::string& each : notes) status.note(each);
  tune::Context context{options.tuning, provider, toolchain.compiler(), runner, store, status};
  for (tune::RunnerService& each : more_runners) context.more_runners.push_back(&each);
  context.leases = &leases;
  context.programs = &provider;
  context.stop_fd = toolchain.stop_fd();
  HONE_ASSIGN(context.build, store.intern(build_row(toolchain, options.tuning,
                                                    gpu_of(options.toolchain), target)));
  HONE_ASSIGN(context.device, store.intern(device));

  Result<tune::TuningResult> result = tune::tune_program(context, run_row(options), sizes);
  status.clear();
  if (!result && result.error().kind == ErrorKind::kInterrupted)
    return tl::unexpected(Error{ErrorKind::kInterrupted,
                                fmt::format("stopped; everything finished is in '{}', and the same "
                                            "command continues from there",
                                            options.store)});
  if (!result) return tl::unexpected(std::move(result).error());
  HONE_TRY(write_report(store, options.store, options.tuning.out / "report.html"));
  return print_result(options, store, context, *result);
}

}  // namespace hone::cli
