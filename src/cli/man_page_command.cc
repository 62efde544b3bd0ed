// hone man: the manual page.
#include "cli/command.h"
#include "cli/man_page_text.h"

namespace hone::cli {

void add_man_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("man", "Write the manual page");
  command->callback([&run, &app] {
    run = [&app]() -> CommandResult {
      fmt::print("{}", man_page(app));
      return 0;
    };
  });
}

}  // namespace hone::cli
