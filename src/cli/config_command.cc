// hone config: the value of every option, and its source.
#include <memory>

#include "cli/application.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/other_tools.h"
#include "output/json_text.h"
#include "output/table.h"

namespace hone::cli {
namespace {

constexpr const char* kDefault = "default";

struct OptionValue {
  std::string text;
  std::string from;
};

OptionValue value_of(const std::string& command, const CLI::Option& option,
                     const std::vector<Setting>& settings) {
  if (option.count() > 0) return {fmt::format("{}", fmt::join(option.results(), " ")), "flag"};
  const std::string name = variable_of(option);
  if (const std::string value = environment_value(name); !value.empty()) return {value, name};
  if (const Setting* setting = setting_of(command, option, settings))
    return {fmt::format("{}", fmt::join(setting->values, " ")), setting->place};
  return {is_flag(option) ? "false" : option.get_default_str(), kDefault};
}

output::Table table_of(const std::vector<CommandNode>& commands,
                       const std::vector<Setting>& settings) {
  output::Table table(
      {{"command", "command"}, {"option", "option"}, {"value", "value"}, {"from", "from"}});
  for (const CommandNode& command : commands)
    for (const CLI::Option* option : options_of(*command.app)) {
      if (option == command.app->get_help_ptr() || name_of(*option) == "--config-file") continue;
      const OptionValue value = value_of(command.path, *option, settings);
      if (is_of_other_tool(*option) && value.from == kDefault) continue;
      table.add({{command.path, ""},
                 {name_of(*option), ""},
                 {output::text_or_null(value.text), value.text.empty() ? "-" : ""},
                 {value.from, ""}});
    }
  return table;
}

// Prints the settings for `words`: a command, or a whole command line.
CommandResult show_config(const std::string& file, const std::vector<std::string>& words,
                          bool json) {
  CLI::App app, scratch;
  Action unused, unused_too;
  add_commands(app, unused);
  add_commands(scratch, unused_too);
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  std::vector<CommandNode> commands;
  for (const CommandNode& each : command_tree(app))
    if (!each.path.empty() &&
        (words.empty() || each.path == wanted || each.path.starts_with(wanted + " ")))
      commands.push_back(each);
  std::string given = file;
  if (commands.empty()) {
    HONE_ASSIGN(const bool parsed, parse_words(app, words));
    if (!parsed) return 0;
    commands.push_back(chosen_command(app));
    if (given.empty()) given = config_file_of(app);
  }
  HONE_ASSIGN(const std::vector<Setting> settings, read_settings(given));
  HONE_TRY(check_settings(scratch, settings));
  const output::Table table = table_of(commands, settings);
  const std::vector<std::string> files = config_files(given);
  if (json) {
    output::print_document({{"files", files}, {"options", table.to_json()}});
    return 0;
  }
  fmt::print("files: {}\n\n{}", files.empty() ? "none" : fmt::format("{}", fmt::join(files, ", ")),
             table.to_text());
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, Action& run) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("config", "Show every option's value and source");
  command->add_flag("--json", *json, "print one JSON document");
  command->prefix_command();
  command->footer(
      "Give a command or a whole command line; hone does not run it.\n"
      "Files: docs/configuration.md.");
  command->callback([&run, command, json] {
    run = [command, json] {
      const CLI::Option* file = command->get_option("--config-file");
      return show_config(file->count() > 0 ? file->as<std::string>() : "", command->remaining(),
                         *json);
    };
  });
}

}  // namespace hone::cli
