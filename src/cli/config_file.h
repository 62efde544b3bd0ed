// Defaults of options, read from files of YAML (docs/configuration.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::cli {

// Key of a configuration file, not yet checked against the existing options.
struct Setting {
  std::string command;  // "tune", "spec check"; kAllCommands for every one that has the option
  std::string key;      // an option's long name: "budget"
  std::vector<std::string> values;
  std::string place;  // "hone.yaml:3"

  bool operator==(const Setting&) const = default;
};
inline constexpr std::string_view kAllCommands = "all";

// Parses a file's text; settings of single commands come before those of all. Input errors give
// `path` and the line: no YAML, no mapping of commands to options, a key twice, one without a
// value.
Result<std::vector<Setting>> parse_settings(const std::string& path, const std::string& text);

// Returns the configuration files in order of precedence. `given`, or else $HONE_CONFIG, names the
// only file; an empty HONE_CONFIG means none. Without either there are two files:
// - hone.yaml in the working folder or one above it, up to the root of its repository (.git) or the
//   home folder. Outside of both only the working folder counts, so that nobody else's file does.
// - $XDG_CONFIG_HOME/hone/config.yaml (default ~/.config).
std::vector<std::string> config_files(const std::string& given);

// Reads the settings of those files; the first one for an option counts. Errors: those of
// parse_settings; an input error for a named file that cannot be read.
Result<std::vector<Setting>> read_settings(const std::string& given);

}  // namespace hone::cli
