// hone generate: writes the source files of the dispatch profiler's operations.
#include <memory>

#include "cli/command.h"
#include "cli/generate_options.h"

namespace hone::cli {
namespace {

CommandResult generate(const GenerateOptions& options) {
  HONE_ASSIGN(const profiler::GenerationPlan plan, plan_of(options));
  HONE_TRY(write_plan(options, plan, /*json=*/false));
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Write operations in many shapes, types and configurations as MLIR files");
  add_selection_options(*command, *options);
  add_target_options(*command, *options);
  command->add_flag("--default-config", options->default_configuration,
                    "the compiler's own choice too, tile_config_default");
  add_shape_options(*command, *options);
  add_refused_options(*command, *options);
  command->footer(
      "Without a shape each kind has its own (docs/dispatch-profiler.md). Files that\n"
      "would not change are left alone.");
  command->callback([&run, options] { run = [options] { return generate(*options); }; });
}

}  // namespace hone::cli
