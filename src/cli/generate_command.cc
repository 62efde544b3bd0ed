// hone generate: writes the source files of the dispatch profiler's operations.
#include <memory>

#include "cli/command.h"
#include "cli/generate_options.h"

namespace hone::cli {
namespace {

CommandResult generate(GenerateOptions& options) {
  HONE_ASSIGN(const profiler::GenerationPlan plan, plan_of(options));
  HONE_TRY(write_plan(options, plan, /*json=*/false));
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& app, Run& run) {
  const auto [command, options] = add_command<GenerateOptions>(
      app, run, "generate", "Write operations as MLIR files", generate);
  add_selection_options(command, options);
  add_target_options(command, options);
  add_shape_options(command, options);
  add_refused_options(command, options);
  command.footer(
      "Each kind has default shapes (docs/dispatch-profiler.md). Unchanged files are\n"
      "not rewritten. Flags of IREE's profiler: hone help migration.");
}

}  // namespace hone::cli
