// hone profile: verifies and measures the dispatches of a tree.
#include <algorithm>
#include <memory>
#include <thread>

#include "base/file.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/generate_options.h"
#include "cli/option_layout.h"
#include "cli/other_tools.h"
#include "cli/profile_output.h"
#include "profiler/profile_report.h"
#include "session/places.h"
#include "session/sessions.h"
#include "tune/services/session_steps.h"

namespace hone::cli {
namespace {

struct ProfileCommandOptions {
  GenerateOptions tree;
  SessionOptions session;
  bool generate = false;
  bool verification = true, profiling = true;
  std::string verification_providers = "hone";
  std::string providers = "iree,library";
  int repetitions = 5;
  ProfileOutputOptions output;
};

Status check_options(const ProfileCommandOptions& options) {
  HONE_TRY(check_refused(options.tree, "hone profile"));
  if (!options.verification && !options.profiling)
    return input_error(
        "--verification-enabled=false and --profiling-enabled=false: nothing is left to do");
  if (options.verification_providers != "hone" && options.verification_providers != "numpy" &&
      options.verification_providers != "all")
    return input_error(
        "--verification-providers '{}': hone has its own exact reference, 'hone', which replaces "
        "'numpy'",
        options.verification_providers);
  return {};
}

// Maps the old flag's device kinds to hone's. The default is the machine's first GPU, else its
// cores.
Status choose_device(ProfileCommandOptions& options) {
  std::string& device = options.session.device;
  if (device == "llvm-cpu" || device == "local-task") device = "cpu";
  if (device == "cuda") device = "cuda:0";
  if (device == "rocm" || device == "hip" || device == "vulkan")
    return input_error(
        "--device {}: hone measures on CPUs and CUDA; generate and compile know rocm", device);
  if (device.empty()) device = gpu_or_cores();
  options.tree.device = device;
  return {};
}

Result<profiler::ProfileOptions> profile_options(const ProfileCommandOptions& options,
                                                 const ProgramSession& session) {
  const tune::Context& context = session.context;
  profiler::ProfileOptions profile;
  profile.generated_dir = options.tree.generated_dir;
  profile.verify = options.verification;
  profile.measure = options.profiling;
  profile.repetitions = options.repetitions;
  profile.libraries = false;
  bool own = false;
  for (const std::string& word : words_between_commas({options.providers})) {
    if (word == "iree") own = true;
    if (word == "library") profile.libraries = true;
    if (word != "iree" && word != "library")
      return input_error("--providers '{}' is not iree or library", word);
  }
  if (!own) return input_error("--providers: libraries are measured beside iree's dispatches");
  profile.ahead = std::max<std::size_t>(64, context.options.compile_ahead);
  profile.processes = static_cast<std::size_t>(jobs_of(session.options.toolchain));
  profile.threads = context.options.traits().runs_on_host
                        ? static_cast<int>(context.options.place().address.cores.size())
                        : static_cast<int>(std::thread::hardware_concurrency());
  return profile;
}

CommandResult run_profile(const ProfileCommandOptions& options,
                          const profiler::TreeSelection& selection, ProgramSession& session) {
  tune::Context& context = session.context;
  HONE_ASSIGN(const profiler::ProfileOptions profile, profile_options(options, session));
  HONE_TRY(context.store.begin_run(run_row(session.options)));
  const Stopwatch watch;
  std::vector<profiler::ProfileRow> rows;
  const auto spent = profiler::profile_dispatches(context, profile, selection.operations,
                                                  [&](const profiler::ProfileRow& row) -> Status {
                                                    session.status.clear();
                                                    if (!options.output.json)
                                                      fmt::print("{}", profiler::screen_block(row));
                                                    std::fflush(stdout);
                                                    rows.push_back(row);
                                                    return {};
                                                  });
  session.status.clear();
  HONE_TRY(tune::end_run(context, spent ? Status() : tl::unexpected(spent.error())));
  if (!spent) return tl::unexpected(session.stopped(spent.error()));
  HONE_TRY(write_profile(options.output, rows, session));
  print_profile_summary(rows, *spent, watch.seconds());
  const bool failed = std::ranges::any_of(rows, [](const profiler::ProfileRow& row) {
    return row.provider == profiler::kCompilersProvider &&
           row.verified == profiler::Verified::kFailed;
  });
  return failed ? 1 : 0;
}

// Returns the dispatches generated now with --generate, else those of the tree.
Result<profiler::TreeSelection> generated_or_there(const ProfileCommandOptions& options) {
  if (!options.generate) return selection_of(options.tree);
  HONE_ASSIGN(const profiler::GenerationPlan plan, plan_of(options.tree));
  HONE_TRY(write_plan(options.tree, plan, options.output.json));
  profiler::TreeSelection selection;
  for (const profiler::PlannedOperation& planned : plan.operations) {
    profiler::SelectedOperation& selected = selection.operations.emplace_back();
    selected.operation = planned.operation;
    for (const profiler::TileConfiguration& configuration : planned.configurations)
      selected.configurations.push_back(configuration.name);
  }
  return selection;
}

CommandResult profile(ProfileCommandOptions options) {
  HONE_TRY(check_options(options));
  HONE_TRY(check_dialect(options.tree));
  HONE_TRY(check_output(options.output));
  HONE_TRY(choose_device(options));
  HONE_ASSIGN(const profiler::TreeSelection selection, generated_or_there(options));
  if (options.tree.dry_run) {
    print_selection(selection, options.output.json);
    return 0;
  }
  SessionOptions& session = options.session;
  session.no_program = true;
  session.no_flags = true;
  session.tuning.out = options.tree.generated_dir;
  session.command_line = "hone profile";
  return with_program_session(
      session, [&](ProgramSession& opened) { return run_profile(options, selection, opened); });
}

}  // namespace

void add_profile_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ProfileCommandOptions>();
  CLI::App* command = app.add_subcommand("profile", "Verify and measure generated operations");
  add_selection_options(*command, options->tree);
  command->add_flag("--verbose", options->tree.verbose, "print skipped dispatches with the reason");
  command->add_flag("--dry-run", options->tree.dry_run, "print the plan; change nothing");
  command->add_option("--device", options->session.device,
                      "measure on cpu, cuda or cuda:N [first GPU, else CPU]");
  command->add_option("--verification-enabled", options->verification, "verify outputs")
      ->expected(0, 1)
      ->default_str("true");
  command->add_option("--profiling-enabled", options->profiling, "measure times")
      ->expected(0, 1)
      ->default_str("true");
  command
      ->add_option("--verification-providers", options->verification_providers,
                   "accepted: hone, numpy or all; each means hone's exact reference")
      ->group(tool::kDispatchProfiler);
  command
      ->add_option("--providers", options->providers,
                   "measure iree, and library: OpenBLAS, oneDNN, cuBLASLt")
      ->capture_default_str();
  command
      ->add_option("--benchmark-repetitions", options->repetitions,
                   "take at least N samples of each kernel")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  add_profile_output_options(*command, options->output);
  command->add_flag("--generate", options->generate, "run hone generate first, with its options");
  add_shape_options(*command, options->tree);
  SessionOptions& session = options->session;
  command->add_option("--store", session.store, "keep every result in this SQLite file")
      ->capture_default_str();
  command->add_option("-j,--jobs", session.toolchain.jobs, "run N compile processes [one per core]")
      ->check(CLI::Range(1, 1024));
  command->add_option("--cuda-arch", options->tree.cuda_arch, "architecture for --generate")
      ->group(heading::kCompiler)
      ->capture_default_str();
  add_core_options(*command, session.cores);
  command->add_flag("--plain", session.plain,
                    "print progress as plain lines, as without a terminal");
  add_refused_options(*command, options->tree);
  command->footer(
      "Exit code 1: a dispatch is wrong, does not compile or does not run. Results of\n"
      "the same file, compiler and device are reused. Flags of IREE's profiler:\n"
      "hone help migration.");
  command->callback([&run, options] {
    run = [options]() -> CommandResult {
      options->session.toolchain.iree = options->tree.iree;
      return profile(*options);
    };
  });
}

}  // namespace hone::cli
