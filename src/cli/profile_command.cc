// hone profile: verifies and measures the dispatches of a tree.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/generate_command.h"
#include "cli/option_layout.h"
#include "cli/other_tools.h"
#include "output/json_text.h"
#include "output/report_page.h"
#include "plan/shards.h"
#include "profiler/profile_report.h"
#include "profiler/profile_run.h"
#include "provider/iree/compiler/runtime_tools.h"
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
  std::string output;     // .csv or .json; empty: none
  bool append = false;    // to a CSV file
  std::string tags;       // "k:v,..."
  std::string junit;      // empty: none
  std::string report;     // HTML; empty: none
  std::string save_cmds;  // shell script; empty: none
  std::string shard;      // "3/16"; empty: all operations
  bool json = false;      // the table on stdout, and nothing else there
};

bool ends_in(const std::string& path, std::string_view extension) {
  return std::filesystem::path(path).extension() == extension;
}

std::string heading_of(std::string_view csv) {
  std::string heading(csv.substr(0, csv.find('\n')));
  if (heading.ends_with('\r')) heading.pop_back();
  return heading;
}

// Returns the heading of the columns, which do not depend on the rows.
std::string heading_with(const profiler::Tags& tags) {
  return heading_of(profiler::profile_table({}, tags, {}).to_csv());
}

// Returns shell lines that repeat the rows without hone: a file's compile, then its functions'
// benchmarks.
std::string commands_of(std::span<const profiler::ProfileRow> rows, const ProgramSession& session) {
  const tune::Options& tuning = session.context.options;
  const std::filesystem::path& generated_dir = tuning.out;
  std::vector<std::string> flags, device;
  for (const std::string& flag : tuning.flags) flags.push_back(shell_word(flag));
  for (const std::string& flag : iree::device_flags(tuning.place().address))
    device.push_back(shell_word(flag));
  std::string text = "#!/bin/sh\n# By hone profile: each dispatch without hone.\nset -e\n";
  std::set<std::string> compiled;
  for (const profiler::ProfileRow& row : rows) {
    if (row.provider != profiler::kCompilersProvider || !row.timing) continue;
    const profiler::OperationFiles files(generated_dir, row.operation);
    const std::string module = shell_word((files.folder() / "profile_cmds.vmfb").string());
    if (compiled.insert(module).second)
      text += fmt::format("iree-compile {} {} -o {}\n", shell_word(files.source().string()),
                          fmt::join(flags, " "), module);
    std::string inputs;
    for (const problem::TensorType& type : row.operation.inputs())
      inputs += " --input=" + problem::to_string(type) + "=1";
    text += fmt::format("iree-benchmark-module --module={} --function={}{} {}\n", module,
                        profiler::NamedDispatch{row.operation, row.configuration}.name(), inputs,
                        fmt::join(device, " "));
  }
  return text;
}

Status append_rows(const std::string& path, const std::string& csv) {
  if (!std::filesystem::exists(path)) return write_file_atomically(path, csv);
  HONE_ASSIGN(std::string text, read_file(path));
  if (!text.empty() && !text.ends_with('\n')) text += "\r\n";
  return write_file_atomically(path, text + csv.substr(csv.find('\n') + 1));
}

// Checks the options before anything is measured. Input errors: malformed tags, a file that is
// neither .csv nor .json, --append without a CSV file or to one with other columns.
Status check_output(const ProfileCommandOptions& options) {
  HONE_ASSIGN(const profiler::Tags tags, profiler::read_tags(options.tags));
  const bool csv = ends_in(options.output, ".csv");
  if (!options.output.empty() && !csv && !ends_in(options.output, ".json"))
    return input_error("--output '{}': the file's name ends in .csv or .json", options.output);
  if (!options.append) return {};
  if (!csv) return input_error("--append goes with --output FILE.csv");
  if (!std::filesystem::exists(options.output)) return {};
  HONE_ASSIGN(const std::string text, read_file(options.output));
  const std::string heading = heading_of(text), wanted = heading_with(tags);
  if (text.empty() || heading == wanted) return {};
  return input_error("--append: '{}' has other columns ({}), not {}", options.output, heading,
                     wanted);
}

// Writes the files, each whole or not at all. Names the report on stdout as the old tool did, or
// prints the table there as JSON.
Status write_profile(const ProfileCommandOptions& options,
                     std::span<const profiler::ProfileRow> rows, const ProgramSession& session) {
  if (!options.junit.empty())
    HONE_TRY(write_file_atomically(options.junit, profiler::junit_text(rows)));
  if (!options.save_cmds.empty())
    HONE_TRY(write_file_atomically(options.save_cmds, commands_of(rows, session)));
  HONE_ASSIGN(const output::Peaks peaks, output::peaks_of(session.store, session.context.device));
  if (!options.report.empty())
    HONE_TRY(write_file_atomically(options.report, output::report_page(profiler::profile_page_data(
                                                       rows, peaks, session.options.store))));
  HONE_ASSIGN(const profiler::Tags tags, profiler::read_tags(options.tags));
  const output::Table table = profiler::profile_table(rows, tags, peaks);
  if (options.json) output::print_json(table.to_json());
  if (options.output.empty()) return {};
  if (ends_in(options.output, ".json"))
    HONE_TRY(output::write_json(options.output, table.to_json()));
  else if (options.append)
    HONE_TRY(append_rows(options.output, table.to_csv()));
  else
    HONE_TRY(write_file_atomically(options.output, table.to_csv()));
  if (!options.json) fmt::print("\nWriting performance report to {}\n", options.output);
  return {};
}

// Prints a line to stderr: the number of correct dispatches, and the share of time of each phase.
void print_profile_summary(std::span<const profiler::ProfileRow> rows,
                           const profiler::ProfileSpent& spent, double seconds) {
  std::size_t dispatches = 0, right = 0, wrong = 0, known = 0;
  for (const profiler::ProfileRow& row : rows) {
    if (row.provider != profiler::kCompilersProvider) continue;
    ++dispatches;
    right += row.verified == profiler::Verified::kSuccess ? 1 : 0;
    wrong += row.verified == profiler::Verified::kFailed ? 1 : 0;
    known += row.known ? 1 : 0;
  }
  const double all = std::max(seconds, 1e-9);
  const auto share = [all](double part) { return 100 * part / all; };
  say("{} dispatches: {} correct, {} failed, {} not verified; {} of them known before. {:.1f} "
      "s, {:.1f} dispatches a second: splitting {:.0f} %, compiling {:.0f} %, expected "
      "results {:.0f} %, verifying {:.0f} %, measuring {:.0f} %, libraries {:.0f} %\n",
      dispatches, right, wrong, dispatches - right - wrong, known, seconds,
      static_cast<double>(dispatches) / all, share(spent.load), share(spent.compile),
      share(spent.expected), share(spent.verify), share(spent.measure), share(spent.libraries));
}

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
  if (device == "rocm" || device == "hip") device = "hip:0";
  if (device == "vulkan")
    return input_error("--device vulkan: hone measures on CPUs, CUDA and HIP, not on Vulkan");
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
                                                    if (!options.json)
                                                      fmt::print("{}", profiler::screen_block(row));
                                                    std::fflush(stdout);
                                                    rows.push_back(row);
                                                    return {};
                                                  });
  session.status.clear();
  HONE_TRY(tune::end_run(context, spent ? Status() : tl::unexpected(spent.error())));
  if (!spent) return tl::unexpected(session.stopped(spent.error()));
  HONE_TRY(write_profile(options, rows, session));
  print_profile_summary(rows, *spent, watch.seconds());
  const bool failed = std::ranges::any_of(rows, [](const profiler::ProfileRow& row) {
    return row.provider == profiler::kCompilersProvider &&
           row.verified == profiler::Verified::kFailed;
  });
  return failed ? 1 : 0;
}

// Keeps the operations of --shard, divided by an estimate of their time. Input error: no shard.
Status keep_own_shard(const ProfileCommandOptions& options, profiler::TreeSelection& selection) {
  if (options.shard.empty()) return {};
  HONE_ASSIGN(const plan::Part part, plan::read_part(options.shard));
  if (!part.is_shard())
    return input_error("--shard {}: hone profile has shards only; write 3/16", options.shard);
  // A dispatch compiles and verifies for about so long, and runs at a rough speed.
  constexpr double kSecondsEach = 0.2;
  const double flops_a_second = device::Facts().rough_flops;
  std::vector<plan::ShardItem> items;
  for (const profiler::SelectedOperation& each : selection.operations) {
    const double call = static_cast<double>(each.operation.flops()) / flops_a_second;
    items.push_back({each.operation.name(), static_cast<double>(each.configurations.size()) *
                                                (kSecondsEach + options.repetitions * call)});
  }
  const std::vector<std::size_t> shards = plan::shards_of(items, part.of);
  std::vector<profiler::SelectedOperation> own;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shards[i] + 1 == part.number) own.push_back(std::move(selection.operations[i]));
  selection.operations = std::move(own);
  return {};
}

// Returns the dispatches generated now with --generate, else those of the tree.
Result<profiler::TreeSelection> generated_or_there(const ProfileCommandOptions& options) {
  if (!options.generate) return selection_of(options.tree);
  HONE_ASSIGN(const profiler::GenerationPlan plan, plan_of(options.tree));
  HONE_TRY(write_plan(options.tree, plan, options.json));
  profiler::TreeSelection selection;
  for (const profiler::PlannedOperation& planned : plan.operations) {
    profiler::SelectedOperation& selected = selection.operations.emplace_back();
    selected.operation = planned.operation;
    for (const profiler::TileConfiguration& configuration : planned.configurations)
      selected.configurations.push_back(configuration.name);
  }
  return selection;
}

CommandResult profile(ProfileCommandOptions& options) {
  HONE_TRY(check_options(options));
  HONE_TRY(check_dialect(options.tree));
  HONE_TRY(check_output(options));
  HONE_TRY(choose_device(options));
  HONE_ASSIGN(profiler::TreeSelection selection, generated_or_there(options));
  HONE_TRY(keep_own_shard(options, selection));
  if (options.tree.dry_run) {
    print_selection(selection, options.json);
    return 0;
  }
  SessionOptions& session = options.session;
  session.toolchain.iree = options.tree.iree;
  session.no_program = true;
  session.no_flags = true;
  session.tuning.out = options.tree.generated_dir;
  session.command_line = "hone profile";
  return with_program_session(
      session, [&](ProgramSession& opened) { return run_profile(options, selection, opened); });
}

}  // namespace

void add_profile_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<ProfileCommandOptions>(
      app, run, "profile", "Verify and measure generated operations", profile);
  add_selection_options(command, options.tree);
  command.add_flag("--verbose", options.tree.verbose, "print skipped dispatches with the reason");
  command.add_flag("--dry-run", options.tree.dry_run, "print the plan; change nothing");
  command.add_option("--device", options.session.device,
                     "measure on cpu, cuda:N or hip:N [first GPU, else CPU]");
  add_hip_option(command);
  command.add_option("--verification-enabled", options.verification, "verify outputs")
      ->expected(0, 1)
      ->default_str("true");
  command.add_option("--profiling-enabled", options.profiling, "measure times")
      ->expected(0, 1)
      ->default_str("true");
  command
      .add_option("--verification-providers", options.verification_providers,
                  "accepted: hone, numpy or all; each means hone's exact reference")
      ->group(tool::kDispatchProfiler);
  add_default_option(command, "--providers", options.providers,
                     "measure iree, and library: OpenBLAS, oneDNN, cuBLASLt");
  add_default_option(command, "--benchmark-repetitions", options.repetitions,
                     "take at least N samples of each kernel")
      ->check(CLI::Range(1, 10'000));
  command.add_option("--output", options.output, "write the table to FILE.csv or FILE.json");
  command.add_flag("--append", options.append, "append to the CSV file, without a heading");
  command.add_option("--tags", options.tags, "add first columns NAME:VALUE, comma-separated");
  command.add_option("--junit", options.junit, "write JUnit XML, a test case per dispatch");
  command.add_option("--report", options.report, "write an HTML page with roofline and heat map");
  command
      .add_option("--save-cmds", options.save_cmds,
                  "write a shell script that repeats it with IREE's tools")
      ->expected(0, 1)
      ->default_str("profile_cmds.sh");
  command.add_option("--shard", options.shard, "do a part of the operations: 3/16")
      ->type_name("PART");
  command.add_flag("--json", options.json, "print the table as one JSON document");
  command.add_flag("--generate", options.generate, "run hone generate first, with its options");
  add_shape_options(command, options.tree);
  SessionOptions& session = options.session;
  add_default_option(command, "--store", session.store, "keep every result in this SQLite file");
  command.add_option("-j,--jobs", session.toolchain.jobs, "run N compile processes [one per core]")
      ->check(CLI::Range(1, 1024));
  add_default_option(command, "--cuda-arch", options.tree.cuda_arch, "architecture for --generate")
      ->group(heading::kCompiler);
  add_core_options(command, session.cores);
  command.add_flag("--plain", session.plain,
                   "print progress as plain lines, as without a terminal");
  add_refused_options(command, options.tree);
  command.footer(
      "Exit code 1: a dispatch is wrong, does not compile or does not run. Results of\n"
      "the same file, compiler and device are reused. Flags of IREE's profiler:\n"
      "hone help migration.");
}

}  // namespace hone::cli
