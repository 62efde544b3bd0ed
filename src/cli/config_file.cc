#include "cli/config_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "hone.yaml";

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

class ConfigReader {
 public:
  explicit ConfigReader(const std::string& path) : path_(path) {}

  Status read(const YAML::Node& node, const std::string& command) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string place = place_of(entry.first);
      if (!entry.first.IsScalar())
        return input_error("{}: keys are names of commands and options", place);
      const std::string key = entry.first.Scalar();
      if (!seen.insert(key).second) return input_error("{}: '{}' stands here twice", place, key);
      HONE_TRY(read_entry(place, command, key, entry.second));
    }
    return {};
  }

  std::string place_of(const YAML::Node& node) const {
    return fmt::format("{}:{}", path_, node.Mark().line + 1);
  }

  std::vector<Setting> settings;

 private:
  Status read_entry(const std::string& place, const std::string& command, const std::string& key,
                    const YAML::Node& value) {
    if (value.IsMap()) return read(value, command.empty() ? key : command + " " + key);
    if (command.empty())
      return input_error("{}: '{}' is no mapping; options stand below their command, or below '{}'",
                         place, key, kAllCommands);
    Setting setting{command, key, {}, place};
    if (value.IsScalar()) setting.values.push_back(value.Scalar());
    if (value.IsSequence())
      for (const YAML::Node& each : value) {
        if (!each.IsScalar())
          return input_error("{}: '{}' is a list of something other than values", place_of(each),
                             key);
        setting.values.push_back(each.Scalar());
      }
    if (setting.values.empty()) return input_error("{}: '{}' has no value", place, key);
    settings.push_back(std::move(setting));
    return {};
  }

  const std::string& path_;
};

// Returns the folders in which hone.yaml may lie; other users may write to none of them.
std::vector<fs::path> project_folders() {
  std::error_code code;
  const fs::path here = fs::current_path(code);
  if (code) return {};
  const fs::path home = fs::path(environment_value("HOME")).lexically_normal();
  std::vector<fs::path> folders;
  for (fs::path folder = here;; folder = folder.parent_path()) {
    folders.push_back(folder);
    if (fs::exists(folder / ".git", code) || folder == home) return folders;
    if (folder == folder.root_path()) return {here};
  }
}

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

// Returns whether `text` names the option as a word: "--out" is not in "--output".
bool names(const std::string& text, const std::string& option) {
  const auto at = text.find(option);
  if (at == std::string::npos) return false;
  const char next = at + option.size() < text.size() ? text[at + option.size()] : ' ';
  return std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-';
}

}  // namespace

Result<std::vector<Setting>> parse_settings(const std::string& path, const std::string& text) {
  try {
    const YAML::Node document = YAML::Load(text);
    ConfigReader reader(path);
    if (document.IsNull()) return std::vector<Setting>();
    if (!document.IsMap())
      return input_error("{}: a mapping of commands to their options is expected",
                         reader.place_of(document));
    HONE_TRY(reader.read(document, ""));
    std::ranges::stable_partition(
        reader.settings, [](const Setting& setting) { return setting.command != kAllCommands; });
    return std::move(reader.settings);
  } catch (const YAML::Exception& error) {
    return input_error("{}:{}: {}", path, error.mark.line + 1, error.msg);
  }
}

std::vector<std::string> config_files(const std::string& given) {
  if (!given.empty()) return {given};
  if (std::getenv("HONE_CONFIG") != nullptr) {
    const std::string named = environment_value("HONE_CONFIG");
    return named.empty() ? std::vector<std::string>() : std::vector<std::string>{named};
  }
  std::vector<std::string> files;
  std::error_code code;
  for (const fs::path& folder : project_folders())
    if (is_file(folder / kFileName)) {
      files.push_back(fs::proximate(folder / kFileName, code).string());
      break;
    }
  const std::string home = environment_value("HOME");
  fs::path user = environment_value("XDG_CONFIG_HOME");
  if (user.empty() && !home.empty()) user = fs::path(home) / ".config";
  if (!user.empty() && is_file(user / "hone" / "config.yaml"))
    files.push_back((user / "hone" / "config.yaml").string());
  return files;
}

Result<std::vector<Setting>> read_settings(const std::string& given) {
  std::vector<Setting> settings;
  for (const std::string& file : config_files(given)) {
    HONE_ASSIGN(const std::string text, read_file(file));
    HONE_ASSIGN(std::vector<Setting> more, parse_settings(file, text));
    std::ranges::move(more, std::back_inserter(settings));
  }
  return settings;
}

std::string environment_value(const std::string& name) {
  const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::string variable_of(const CLI::Option& option) {
  const std::string name = name_of(option);
  if (name == "--iree") return "HONE_IREE";
  if (name == "--triton") return "HONE_TRITON";
  if (name == "--hip") return "HONE_HIP";
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
  if (!environment_value(variable_of(option)).empty()) return nullptr;
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
