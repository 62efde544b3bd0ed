#include "cli/config_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/file.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "hone.yaml";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

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
  const fs::path home = fs::path(variable("HOME")).lexically_normal();
  std::vector<fs::path> folders;
  for (fs::path folder = here;; folder = folder.parent_path()) {
    folders.push_back(folder);
    if (fs::exists(folder / ".git", code) || folder == home) return folders;
    if (folder == folder.root_path()) return {here};
  }
}

}  // namespace

Result<std::vector<Setting>> parse_settings(const std::string& path, const std::string& text) {
  try {
    const YAML::Node document = YAML::Load(text);
    Reader reader(path);
    if (document.IsNull()) return std::vector<Setting>();
    if (!document.IsMap())
      return input_error("{}: a mapping of commands to their options is expected",
                         reader.place_of(document));
    HONE_TRY(reader.read(document, ""));
    std::stable_partition(reader.settings.begin(), reader.settings.end(),
                          [](const Setting& setting) { return setting.command != kAllCommands; });
    return std::move(reader.settings);
  } catch (const YAML::Exception& error) {
    return input_error("{}:{}: {}", path, error.mark.line + 1, error.msg);
  }
}

std::vector<std::string> config_files(const std::string& given) {
  if (!given.empty()) return {given};
  if (std::getenv("HONE_CONFIG") != nullptr) {
    const std::string named = variable("HONE_CONFIG");
    return named.empty() ? std::vector<std::string>() : std::vector<std::string>{named};
  }
  std::vector<std::string> files;
  std::error_code code;
  for (const fs::path& folder : project_folders())
    if (is_file(folder / kFileName)) {
      files.push_back(fs::proximate(folder / kFileName, code).string());
      break;
    }
  const std::string home = variable("HOME");
  fs::path user = variable("XDG_CONFIG_HOME");
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

}  // namespace hone::cli
