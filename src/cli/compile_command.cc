// hone compile: the modules of the dispatch profiler's operations, for IREE's own tools.
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/generate_command.h"
#include "output/table.h"
#include "profiler/compiled_modules.h"
#include "session/toolchain.h"

namespace hone::cli {
namespace {

struct CompileOptions {
  GenerateOptions tree;
  ToolchainOptions toolchain;
  int batch_size = 100;
  bool force = false;
};

// Sets the target that the flags choose.
Status choose_target(CompileOptions& options) {
  HONE_ASSIGN(const profiler::GenerationTarget target, generation_target_of(options.tree));
  options.toolchain.target = target.arch.empty() ? "host" : target.arch;
  return {};
}

void print_row(const profiler::ModuleRow& row, const CompileOptions& options, bool terminal,
               std::size_t done, std::size_t all) {
  const profiler::OperationFiles files(options.tree.generated_dir, row.operation);
  if (!row.was_up_to_date || options.tree.verbose)
    fmt::print("[Compiling]: {}{}\n", files.source().string(),
               row.was_up_to_date ? " (up to date)" : "");
  for (const profiler::SkippedDispatch& each : row.left_out)
    say("[Warning]: {} is skipped: {}\n", each.dispatch,
        options.tree.verbose ? each.reason : output::in_one_line(each.reason));
  if (terminal) say("{} of {} operations\r", done, all);
}

CommandResult compile(CompileOptions& options) {
  HONE_TRY(check_refused(options.tree, "hone compile"));
  HONE_TRY(check_dialect(options.tree));
  HONE_TRY(choose_target(options));
  HONE_ASSIGN(const profiler::TreeSelection selection, selection_of(options.tree));
  if (options.tree.dry_run) {
    print_selection(selection);
    return 0;
  }
  HONE_ASSIGN(const Toolchain toolchain, Toolchain::start(options.toolchain));
  profiler::ModuleOptions modules;
  modules.generated_dir = options.tree.generated_dir;
  modules.flags = compile_flags(options.toolchain);
  modules.compiler = toolchain.revision();
  modules.batch_size = options.batch_size;
  modules.force = options.force;
  modules.jobs = static_cast<std::size_t>(std::max(1, toolchain.jobs() / 2));
  std::size_t done = 0, compiled = 0, dispatches = 0, left_out = 0;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  HONE_TRY(profiler::compile_modules(toolchain.compiler(), modules, selection.operations,
                                     [&](const profiler::ModuleRow& row) -> Status {
                                       compiled += row.was_up_to_date ? 0 : 1;
                                       dispatches += row.dispatches;
                                       left_out += row.left_out.size();
                                       print_row(row, options, terminal, ++done,
                                                 selection.operations.size());
                                       std::fflush(stdout);
                                       return {};
                                     }));
  fmt::print(
      stderr, "{} dispatches of {} operations: {} compiled, {} up to date{}\n", dispatches,
      selection.operations.size(), compiled, selection.operations.size() - compiled,
      left_out == 0 ? std::string() : fmt::format("; {} dispatches do not compile", left_out));
  return left_out == 0 ? 0 : 1;
}

}  // namespace

void add_compile_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<CompileOptions>(
      app, run, "compile", "Compile generated operations for IREE's tools", compile);
  add_selection_options(command, options.tree);
  add_target_options(command, options.tree);
  command.add_option("--iree", options.toolchain.iree, kIreeHelp);
  command.add_option("-j,--jobs", options.toolchain.jobs, "run N compile processes [one per core]")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--force-compile", options.force, "compile up-to-date operations too");
  add_default_option(command, "--batch-size", options.batch_size,
                     "launches per call of OPERATION_profile.vmfb")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--flag", options.toolchain.flags, "pass a flag to iree-compile; repeatable");
  add_refused_options(command, options.tree);
  command.footer(
      "Exit code 1: a dispatch does not compile; its modules skip it.\n"
      "Flags of IREE's profiler: hone help migration.");
}

}  // namespace hone::cli
