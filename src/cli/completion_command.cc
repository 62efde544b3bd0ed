// hone completion: what makes a shell complete hone's command line.
#include <memory>

#include "cli/command.h"
#include "cli/completion_script.h"

namespace hone::cli {

void add_completion_command(CLI::App& app, Run& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Write the completion script of a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->footer("For this shell only: source <(hone completion bash)");
  command->callback([&run, &app, shell] {
    run = [&app, shell]() -> CommandResult {
      fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                       : *shell == "zsh" ? zsh_completion(app)
                                         : fish_completion(app));
      return 0;
    };
  });
}

}  // namespace hone::cli
