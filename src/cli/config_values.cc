#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "cli/config_file.h"

namespace hone::cli {
namespace {

// Returns the keys by which a file may name the option; none if a default would make no sense.
std::vector<std::string> keys_of(const CLI::Option& option) {
  if (!option.get_configurable() || option.get_required() || option.get_group().empty()) return {};
  std::vector<std::string> keys = option.get_lnames();
  if (keys.empty()) keys = option.get_snames();
  if (keys.empty()) keys.push_back(CLI::detail::to_lower(option.get_name(true)));
  return keys;
}

bool is_named(const CLI::Option& option, const std::string& key) {
  return std::ranges::count(keys_of(option), key) > 0;
}

CLI::Option* option_named(CLI::App& command, const std::string& key) {
  const auto options = options_of(command);
  const auto found = std::ranges::find_if(
      options, [&](const CLI::Option* option) { return is_named(*option, key); });
  return found == options.end() ? nullptr : *found;
}

void set(CLI::Option& option, const std::vector<std::string>& values) {
  option.clear();
  option.add_result(values);
  option.run_callback();
}

Status check_value(CLI::Option& option, const Setting& setting) {
  try {
    set(option, setting.values);
  } catch (const CLI::Error& error) {
    return input_error("{}: {}: {}", setting.place, setting.key, error.what());
  }
  return {};
}

Status refuse_key(const Setting& setting, const std::vector<CommandNode>& commands) {
  std::vector<std::string> keys;
  for (const CommandNode& each : commands)
    for (const CLI::Option* option : options_of(*each.app))
      for (const std::string& key : keys_of(*option))
        if (std::ranges::count(keys, key) == 0) keys.push_back(key);
  if (commands.size() == 1 && !commands.front().path.empty())
    return input_error("{}: hone {} has no option '{}' with a default{}; hone {} --help lists them",
                       setting.place, setting.command, setting.key, did_you_mean(setting.key, keys),
                       setting.command);
  return input_error("{}: no command has an option '{}' with a default{}", setting.place,
                     setting.key, did_you_mean(setting.key, keys));
}

bool is_set_by_environment(const CLI::Option& option) {
  const std::string name = variable_of(option);
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value != nullptr && *value != '\0';
}

// Returns whether `text` names the option as a word: "--out" is not in "--output".
bool names(const std::string& text, const std::string& option) {
  const auto at = text.find(option);
  if (at == std::string::npos) return false;
  const char next = at + option.size() < text.size() ? text[at + option.size()] : ' ';
  return std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-';
}

}  // namespace

std::string variable_of(const CLI::Option& option) {
  const std::string name = name_of(option);
  if (name == "--iree") return "HONE_IREE";
  if (name == "--triton") return "HONE_TRITON";
  if (name == "--config-file") return "HONE_CONFIG";
  return {};
}

Status check_settings(CLI::App& root, const std::vector<Setting>& settings) {
  const std::vector<CommandNode> tree = command_tree(root);
  std::vector<std::string> paths{std::string(kAllCommands)};
  for (const CommandNode& each : tree)
    if (!each.path.empty()) paths.push_back(each.path);
  for (const Setting& setting : settings) {
    std::vector<CommandNode> commands;
    for (const CommandNode& each : tree)
      if (setting.command == kAllCommands || each.path == setting.command) commands.push_back(each);
    if (commands.empty())
      return input_error("{}: '{}' is no command of hone{}", setting.place, setting.command,
                         did_you_mean(setting.command, paths));
    bool known = false;
    for (const CommandNode& each : commands)
      if (CLI::Option* option = option_named(*each.app, setting.key)) {
        known = true;
        HONE_TRY(check_value(*option, setting));
      }
    if (!known) return refuse_key(setting, commands);
  }
  return {};
}

const Setting* setting_of(const std::string& command, const CLI::Option& option,
                          const std::vector<Setting>& settings) {
  if (is_set_by_environment(option)) return nullptr;
  const auto found = std::ranges::find_if(settings, [&](const Setting& setting) {
    return (setting.command == command || setting.command == kAllCommands) &&
           is_named(option, setting.key);
  });
  return found == settings.end() ? nullptr : &*found;
}

Status apply_settings(const CommandNode& command, const std::vector<Setting>& settings) {
  for (CLI::Option* option : options_of(*command.app)) {
    if (option->count() > 0) continue;
    const Setting* setting = setting_of(command.path, *option, settings);
    if (setting != nullptr) HONE_TRY(check_value(*option, *setting));
  }
  return {};
}

Error with_places(Error error, const CommandNode& command, const std::vector<Setting>& settings) {
  for (const CLI::Option* option : options_of(*command.app)) {
    const Setting* setting = setting_of(command.path, *option, settings);
    if (setting != nullptr && option->results() == setting->values &&
        names(error.message, name_of(*option)))
      error.message += fmt::format(" ({} is from {})", name_of(*option), setting->place);
  }
  return error;
}

}  // namespace hone::cli
