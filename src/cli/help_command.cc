// hone help: prints the help of a command, or a page about a topic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_help.h"
#include "cli/command_tree.h"
#include "cli/other_tools.h"
#include "session/registry.h"

namespace hone::cli {
namespace {

std::string environment_text(CLI::App& /*root*/) {
  std::string text = "Environment variables that hone reads.\n\n";
  for (const EnvironmentVariable& each : environment_variables())
    text += two_columns(std::string(each.name), each.meaning);
  return text;
}

std::string providers_text(CLI::App& /*root*/) {
  std::string text =
      "Kernels that hone tune --provider names. By default, all available ones that suit INPUT.\n"
      "A library is measured beside the winner; no program calls it.\n\n";
  for (const RegisteredProvider& each : providers())
    text += two_columns(std::string(each.name), each.help);
  return text + two_columns("library", "a vendor's kernels: OpenBLAS, oneDNN, cuBLASLt");
}

struct Topic {
  std::string_view name;
  std::string (*text)(CLI::App& root);
};

constexpr Topic kTopics[] = {
    {"environment", environment_text},
    {"migration", migration_text},
    {"providers", providers_text},
};

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& each : kTopics) names.emplace_back(each.name);
  return names;
}

// Returns the command's help as `hone COMMAND --help` prints it.
std::string help_of(const CommandNode& command) {
  const auto above = command.path.rfind(' ');
  if (command.path.empty()) return command.app->help();
  return command.app->help("hone" +
                           (above == std::string::npos ? "" : " " + command.path.substr(0, above)));
}

CommandResult print_help(const std::vector<std::string>& words) {
  CLI::App app;  // of its own: CLI11 prints the help of a parsed one's command
  Run unused;
  add_commands(app, unused);
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  std::vector<std::string> names = topic_names();
  for (const CommandNode& command : command_tree(app)) {
    names.push_back(command.path);
    if (command.path != wanted) continue;
    fmt::print("{}", help_of(command));
    return 0;
  }
  if (const auto topic = std::ranges::find(kTopics, wanted, &Topic::name);
      topic != std::end(kTopics)) {
    fmt::print("{}", topic->text(app));
    return 0;
  }
  return input_error(
      "'{}' is no command and no topic of hone help{}; topics: {}; hone help lists "
      "the commands",
      wanted, did_you_mean(wanted, names), fmt::join(topic_names(), ", "));
}

}  // namespace

void add_help_command(CLI::App& app, Run& run) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Print the help of a command or a topic");
  std::vector<std::string> values = topic_names();
  for (const CLI::App* each : app.get_subcommands({})) values.push_back(each->get_name());
  // A type name of this form is completed by shells (values_of()).
  command
      ->add_option("TOPIC", *words,
                   fmt::format("command, or one of: {}", fmt::join(topic_names(), ", ")))
      ->type_name(fmt::format("{{{}}}", fmt::join(values, ",")));
  command->callback([&run, words] { run = [words] { return print_help(*words); }; });
}

}  // namespace hone::cli
