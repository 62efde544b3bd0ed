// hone tune --launcher: divides the tuning over the tasks of a batch system, and ends as a local
// run does.
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/tune_options.h"
#include "fleet/launcher.h"
#include "fleet/submission.h"
#include "output/status_line.h"
#include "problem/given_size.h"
#include "session/places.h"
#include "session/travelling_work.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

// Variables that hone reads: tasks see them as this process does.
std::map<std::string, std::string> own_environment() {
  constexpr std::string_view kPrefix = "HONE_";
  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    const std::size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Status check(const TuneOptions& options) {
  for (const auto& [is_given, name] : {std::pair(options.compile_only, "--compile-only"),
                                       std::pair(options.measure_only, "--measure-only"),
                                       std::pair(!options.shard.empty(), "--shard")})
    if (is_given) return input_error("--launcher and {} exclude each other: leave one out", name);
  if (options.device.starts_with("ssh://"))
    return input_error(
        "--launcher and --device {} exclude each other: a task measures on its own node; leave "
        "--launcher out to measure there from here",
        options.device);
  // "cuda:1": a task sees the devices that --gres gives it as 0, 1, ...
  const std::size_t colon = options.device.find(':');
  if (colon != std::string::npos && options.device.substr(colon + 1) != "0" &&
      options.device[colon + 1] != '0')
    return input_error(
        "--device {}: a task counts the devices that it is given from 0; write --device {}:0, and "
        "choose nodes by --sbatch-args",
        options.device, options.device.substr(0, colon));
  return {};
}

// Code is compiled where the device is not: its name must be known, and its form be one that
// travels.
Status check_compile_partition(const TuneOptions& options, bool is_program) {
  const std::string& partition = options.fleet.compile_partition;
  if (partition.empty()) return {};
  if (options.fleet.launcher != "slurm")
    return input_error(
        "--compile-partition {} names nodes of Slurm; leave it out with --launcher {}", partition,
        options.fleet.launcher);
  if (!is_program)
    return input_error(
        "--compile-partition {}: a list of GEMMs is compiled where it is measured; leave it out",
        partition);
  if (options.toolchain.target == "host")
    return input_error(
        "--compile-partition {}: its nodes cannot ask the device what code it runs; name it: "
        "--target sm_90 for a GPU, --target x86-64-v3 for CPUs",
        partition);
  HONE_TRY(absent_place(options.toolchain.target, options.cores));
  return check_code_travels(options);
}

// Whether a task comes before the shards: a whole run would search the compiler's flags
// (session::complete), or the import of a model writes files that the shards share.
Result<bool> needs_flags_task(const TuneOptions& options, bool is_program) {
  const tune::Options& tuning = options.tuning;
  HONE_ASSIGN(const auto sizes, problem::given_size_sets(options.toolchain.sizes));
  const bool searches = sizes.size() == 1 && !options.no_flags && !options.no_program &&
                        tuning.dispatches.empty() && tuning.configurations.empty() &&
                        options.toolchain.audited_rule.empty();
  return is_program && (searches || fs::path(tuning.input).extension() == ".onnx");
}

Result<fleet::FleetPlan> plan_of(const TuneOptions& options, const std::vector<std::string>& words,
                                 bool is_program) {
  fleet::FleetPlan plan;
  plan.version = version();
  plan.command = options.command_line;
  plan.executable = own_executable();
  plan.words = words;
  plan.out = options.tuning.out.string();
  std::error_code code;
  plan.folder = fs::current_path(code).string();
  plan.environment = own_environment();
  plan.launcher = options.fleet.launcher;
  plan.tasks = options.fleet.tasks;
  plan.compiles = !options.fleet.compile_partition.empty();
  HONE_ASSIGN(plan.flags, needs_flags_task(options, is_program));
  plan.checkpoint_seconds = options.fleet.checkpoint_seconds;
  return plan;
}

// Adds the proof's results to the user's store: this process alone writes it.
Status collect(const TuneOptions& options, const fleet::Folder& folder) {
  std::error_code code;
  if (!fs::exists(folder.proof(), code)) return {};
  // A copy is opened: locks do not work on every shared file system.
  HONE_ASSIGN(const TemporaryFolder local, TemporaryFolder::create("hone-fleet-"));
  const fs::path copy = local.path() / "proof.db";
  HONE_TRY(fleet::publish(folder.proof(), copy));
  HONE_ASSIGN(const ProcessResult merged,
              run_process({{own_executable(), "store", "merge", options.store, copy.string()}}));
  if (merged.succeeded()) return {};
  return failure("'{}' cannot take the results of '{}': {}", options.store, folder.proof().string(),
                 readable(merged.standard_error.text()));
}

}  // namespace

CommandResult launch_tuning(const TuneOptions& options, const std::vector<std::string>& words,
                            bool is_program) {
  HONE_TRY(check(options));
  HONE_TRY(check_compile_partition(options, is_program));
  if (!options.tuning.input.empty()) HONE_TRY(read_file(options.tuning.input));
  HONE_ASSIGN(fleet::FleetPlan plan, plan_of(options, words, is_program));
  const std::unique_ptr<fleet::Launcher> launcher =
      options.fleet.launcher == "slurm"
          ? fleet::slurm(options.fleet.sbatch_args, options.fleet.compile_partition)
          : fleet::hyperqueue();
  const fs::path path = fs::absolute(options.fleet.folder.empty() ? options.tuning.out / "fleet"
                                                                  : fs::path(options.fleet.folder));
  if (options.dry_run) {
    const fleet::Folder folder = fleet::Folder::planned(path, std::move(plan));
    for (const fleet::JobRequest& job : fleet::missing_jobs(folder))
      fmt::print("# {}\n{}\n", folder.script(job.name).string(), launcher->script(folder, job));
    return 0;
  }
  HONE_TRY(make_out(options));
  HONE_ASSIGN(const fleet::Folder folder, fleet::Folder::create(path, std::move(plan)));
  HONE_ASSIGN(const StopSignal stop, StopSignal::install());
  output::StatusLine status(status_style(options));
  const Result<fleet::FleetResult> result = fleet::submit_and_follow(
      folder, *launcher,
      {.stop_fd = stop.fd(), .tell = [&](const auto& line) { status.progress({.step = line}); }});
  status.clear();
  if (!result) return tl::unexpected(result.error());
  HONE_TRY(collect(options, folder));
  HONE_ASSIGN(const std::string text, read_file(folder.proof_output()));
  fmt::print("{}", text);
  for (const std::string& note : result->notes) say("{}\n", note);
  if (const auto missing = folder.missing(); !missing.empty())
    say("submit the missing shards again: {}\n", folder.plan().command);
  return result->exit_code;
}

}  // namespace hone::cli
