// hone tune: tunes a program up to a proven spec, or GEMMs to the fastest kernels.
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "cli/common_options.h"
#include "cli/tune_options.h"
#include "search/strategy.h"
#include "session/emulated_runners.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/registry.h"
#include "session/replacing_kernels.h"

namespace hone::cli {
namespace {

// Returns the option as a user would give it again: with its values, or alone if it is a flag.
std::vector<std::string> words_of(const CLI::Option& option) {
  const bool is_short = option.get_lnames().empty();
  std::vector<std::string> words{is_short ? "-" + option.get_snames().front()
                                          : "--" + option.get_lnames().front()};
  if (option.get_expected_max() == 0) return words;
  if (const char delimiter = option.get_delimiter(); delimiter != '\0')
    words.push_back(fmt::format("{}", fmt::join(option.results(), std::string(1, delimiter))));
  else
    words.insert(words.end(), option.results().begin(), option.results().end());
  return words;
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + shell_word(word);
  return text;
}

bool has_one_of(const CLI::Option& option, std::span<const std::string_view> names) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return option.check_lname(std::string(name)); });
}

// Options that say where and how tasks run: the tasks themselves do not get them.
constexpr std::string_view kOfLaunch[] = {"launcher",          "tasks", "sbatch-args",
                                          "compile-partition", "fleet", "store",
                                          "checkpoint",        "out",   "shard"};

// Returns whether the option is of one run and not of its task: with another one the same work goes
// on.
bool is_of_run(const CLI::Option& option) {
  constexpr std::string_view kOfRun[] = {"budget",       "effort",       "verbose",
                                         "quiet",        "plain",        "json",
                                         "compile-only", "measure-only", "verify-emulated"};
  return has_one_of(option, kOfRun) || has_one_of(option, kOfLaunch);
}

// Refuses options that exclude each other.
Status check_phases(const TuneOptions& options) {
  if (options.fleet.launcher.empty() && !options.fleet.compile_partition.empty())
    return input_error("--compile-partition {} names nodes of Slurm: add --launcher slurm",
                       options.fleet.compile_partition);
  if (!options.measure_only) return {};
  // The store alone says what is measured, except for a shard, which splits the program.
  const bool is_whole = options.shard.empty();
  for (const auto& [is_given, name] :
       {std::pair(options.compile_only, "--compile-only"), std::pair(options.dry_run, "--dry-run"),
        std::pair(is_whole && !options.tuning.configurations.empty(), "--config"),
        std::pair(is_whole && !options.tuning.dispatches.empty(), "--dispatch"),
        std::pair(is_whole && !options.external.empty(), "--external")})
    if (is_given)
      return input_error("--measure-only and {} exclude each other: leave one out", name);
  return {};
}

// Refuses strategies that learn: without measurements configurations are drawn at random or taken
// one after the other.
Status refuse_strategies_that_learn(const TuneOptions& options) {
  const std::string& strategy = options.tuning.strategy;
  if (options.compile_only && options.dry_run)
    return input_error("--dry-run and --compile-only exclude each other: leave one out");
  const bool compiles_ahead = options.compile_only || !options.fleet.compile_partition.empty();
  if (!compiles_ahead || strategy == "auto" || strategy == "random" || strategy == "exhaustive")
    return {};
  return input_error(
      "--strategy {} learns from measurements, and {} measures nothing; use random (the auto here) "
      "or exhaustive",
      strategy, options.compile_only ? "--compile-only" : "--compile-partition");
}

// Name of vendors' libraries for --provider: they are measured beside the winner, and make no
// candidates.
constexpr std::string_view kLibrary = "library";

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const RegisteredProvider& each : providers()) names.emplace_back(each.name);
  names.emplace_back(kLibrary);
  return names;
}

std::vector<std::string> effort_names() {
  std::vector<std::string> names;
  for (const Effort& each : kEfforts) names.emplace_back(each.name);
  return names;
}

// Returns the provider whose dispatches the command line lists; null for a program.
const RegisteredProvider* listing_provider(const TuneOptions& options) {
  if (options.providers.size() == 1) {
    const RegisteredProvider* const named = find_provider(options.providers.front());
    return named != nullptr && named->open_list != nullptr ? named : nullptr;
  }
  const bool gemms =
      options.providers.empty() &&
      (options.tune_gemm.check_only || triton::names_gemms(options.gemms, options.tuning.input));
  return gemms ? find_provider("triton") : nullptr;
}

Status check_providers(const TuneOptions& options) {
  const std::string named = fmt::format("--provider {}", fmt::join(options.providers, ","));
  if (!options.providers.empty() && !options.names_provider("iree") &&
      listing_provider(options) == nullptr)
    return input_error(
        "{}: only triton tunes GEMMs; for a program name IREE too: --provider iree,{}", named,
        fmt::join(options.providers, ","));
  if (options.names_provider("external") && options.external.empty())
    return input_error("{} needs manifests of your own kernels: --external FILE", named);
  if (options.names_provider(kLibrary) && options.no_baselines)
    return input_error("{} and --no-baselines exclude each other", named);
  return {};
}

}  // namespace

void add_tune_command(CLI::App& app, Action& run) {
  auto options = std::make_shared<TuneOptions>();
  tune::Options& tuning = options->tuning;
  CLI::App* command = app.add_subcommand("tune", "Find, verify and prove the fastest kernels");
  command->add_option("INPUT", tuning.input,
                      std::string(kProgramFiles) + ", or a list of GEMMs (.yaml)");
  command->add_option("--provider", options->providers, "use these kernels (hone help providers)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(provider_names()));
  add_external_option(*command, options->external);
  add_toolchain_options(*command, options->toolchain);
  add_gemm_options(*command, options->gemms);
  add_tune_gemm_options(*command, options->tune_gemm);
  add_model_tuner_options(*command, options->model_tuner);
  add_default_option(*command, "--out", tuning.out, "folder for spec, flags, run.sh and report");
  add_default_option(*command, "--store", options->store, "keep every result in this SQLite file");
  command->add_option("--dispatch", tuning.dispatches,
                      "tune only dispatches with NAME or pattern; repeatable");
  command
      ->add_option("--coverage", options->coverage,
                   "tune the hottest dispatches that cover PERCENT of the run time [95; with "
                   "--dispatch: 100]")
      ->type_name("PERCENT");
  command->add_option("--top", options->top, "tune at most N dispatches, hottest first")
      ->check(CLI::PositiveNumber);
  add_default_option(*command, "--strategy", tuning.strategy, "search strategy (docs/search.md)")
      ->type_name(fmt::format("{{{}}}", fmt::join(search::kStrategyNames, ",")));
  command
      ->add_option("--candidates", tuning.candidates, "try at most N configurations per dispatch")
      ->check(CLI::PositiveNumber);
  add_default_option(*command, "--effort", options->effort,
                     "budget 1m, 10m or 1h, coverage to match")
      ->check(CLI::IsMember(effort_names()));
  command->add_option("--budget", options->budget,
                      "time to tune, proof included: 90s, 10m, 2h [by --effort]");
  command->add_flag("--dry-run", options->dry_run,
                    "print what would be tuned, its share of time and the cost");
  add_default_option(*command, "--seed", tuning.seed, "seed of the search and of generated inputs");
  command->add_option("--config", tuning.configurations,
                      "measure dist_m=64,dist_n=64,... instead of searching; repeatable");
  command->add_option("--relax", tuning.relax, "drop a soft constraint, or 'all'; repeatable");
  command->add_option("--audit-rule", options->toolchain.audited_rule,
                      "try configurations that break only this hard rule");
  command
      ->add_option("--shard", options->shard,
                   "do a part: 3/16 of the dispatches, flags before or proof after them")
      ->type_name("PART");
  FleetLaunch& fleet = options->fleet;
  command->add_option("--launcher", fleet.launcher, "divide it over tasks of slurm or hq")
      ->check(CLI::IsMember({"slurm", "hq"}));
  add_positive_option(*command, "--tasks", fleet.tasks, "shards, each a task of the launcher");
  command->add_option("--sbatch-args", fleet.sbatch_args,
                      "pass to sbatch, in one word: '--partition=gpu --gres=gpu:1'");
  command
      ->add_option("--compile-partition", fleet.compile_partition,
                   "compile on these CPU nodes of Slurm first; needs --target")
      ->type_name("NAME");
  command->add_option("--fleet", fleet.folder, "fleet folder, shared by all nodes [fleet in --out]")
      ->type_name("FOLDER");
  add_positive_option(*command, "--checkpoint", fleet.checkpoint_seconds,
                      "seconds between checkpoints of a task");
  add_device_option(*command, options->device);
  add_core_options(*command, options->cores);
  add_positive_option(*command, "--kernel-timeout", options->kernel_seconds,
                      "limit loading and verifying one candidate");
  add_default_option(*command, "--cache", options->cache, "warm or cold operands")
      ->check(CLI::IsMember({"warm", "cold"}));
  add_default_option(*command, "--reuse", options->reuse,
                     "reuse results of equal builds and devices, or of any")
      ->check(CLI::IsMember({"equal", "any"}));
  command->add_flag("--retry-failed", tuning.retry_failed,
                    "retry candidates that an earlier run killed or stopped for time or memory");
  command->add_flag("--trust", options->trust,
                    "load stored machine code that others compiled; default: compile it again");
  add_runtime_options(*command, options->runtime, "the first");
  command->add_flag("--no-baselines", options->no_baselines,
                    "skip the baselines: OpenBLAS, oneDNN, cuBLASLt and IREE's runtime");
  command->add_flag("--no-flags", options->no_flags,
                    "skip the flag search (implied by --dispatch and --config)");
  command->add_flag("--no-program", options->no_program, "skip the proof in the whole program");
  command->add_flag_callback(
      "--no-near-ties", [&tuning] { tuning.near_ties = false; },
      "ship the fastest kernel; do not compare near ties in the program");
  command
      ->add_option("--starter-spec", tuning.starter_spec,
                   "extend this tuning spec: new entries go first")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_flag("--bit-equal", tuning.bit_equal,
                    "ship only builds that change no output bit [rounding differences pass]");
  command->add_flag("--compile-only", options->compile_only,
                    "compile candidates into the store, for --measure-only; measure nothing");
  command->add_flag(
      "--verify-emulated", options->verify_emulated,
      "verify what --compile-only makes for gfx942, on an emulator; rank correct code");
  command->add_flag("--measure-only", options->measure_only,
                    "measure what --compile-only stored; needs no compiler, runs any stored code");
  command->add_flag("--json", options->json, "print one JSON document");
  command->add_flag("--quiet", options->quiet, "print no progress");
  command->add_flag("--verbose", options->verbose, "print notes, and whole tables at the end");
  command->add_flag("--plain", options->plain,
                    "print progress as plain lines, as without a terminal");
  command->footer(
      "iree-compile PROGRAM @out/compile_flags.txt repeats the best compile without\n"
      "hone. Flags of other tools: hone help migration.");
  command->callback([&run, options, command] {
    // Refuse flags only: a configuration file may hold options for all GEMMs.
    run = [options, command, flags = refuse_gemm_options(*command)]() -> CommandResult {
      options->command_line = "hone tune";
      if (!options->tuning.input.empty())
        options->command_line += " " + shell_word(options->tuning.input);
      options->task = options->command_line;
      std::vector<std::string> for_tasks;
      if (!options->tuning.input.empty()) for_tasks.push_back(options->tuning.input);
      for (const CLI::Option* option : command->get_options()) {
        if (option->count() == 0 || option->get_positional()) continue;
        const std::vector<std::string> words = words_of(*option);
        options->command_line += text_of(words);
        if (!is_of_run(*option)) options->task += text_of(words);
        if (!has_one_of(*option, kOfLaunch))
          for_tasks.insert(for_tasks.end(), words.begin(), words.end());
      }
      HONE_TRY(read_flags(options->toolchain));
      HONE_TRY(check_providers(*options));
      HONE_TRY(check_phases(*options));
      HONE_TRY(refuse_strategies_that_learn(*options));
      HONE_TRY(check_part(*options));
      if (!options->shard.empty()) {
        HONE_ASSIGN(options->tuning.part, plan::read_part(options->shard));
      }
      if (options->verify_emulated) HONE_TRY(check_verify_emulated(*options));
      options->tuning.baselines = !options->no_baselines;
      TuneGemmOptions& old = options->tune_gemm;
      old.benchmark = command->count("--benchmark") > 0 && !old.benchmark_file.ends_with(".mlir");
      old.check_only = old.benchmark || command->count("--compare-wo-tuning") > 0;
      HONE_ASSIGN(const std::vector<std::string> notes, apply_tune_gemm_options(*options));
      const RegisteredProvider* const listing = listing_provider(*options);
      if (!options->fleet.launcher.empty() && !old.check_only)
        return launch_tuning(*options, for_tasks, listing == nullptr);
      if (listing != nullptr) {
        if (!options->quiet)
          for (const std::string& note : notes) say("{}\n", note);
        if (old.check_only) return check_gemms(*options);
        HONE_ASSIGN(auto listed, listing->open_list(*options));
        return tune_list(*options, std::string(listing->name), std::move(listed));
      }
      HONE_TRY(flags);
      HONE_ASSIGN(const std::vector<std::string> of_models, apply_model_tuner_options(*options));
      for (const std::string& note : of_models) say("{}\n", note);
      if (options->tuning.input.empty())
        return input_error("INPUT is missing: a program (.mlir, .mlirbc, .onnx)");
      return tune_program(*options);
    };
  });
}

}  // namespace hone::cli
