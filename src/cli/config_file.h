// Defaults of options, read from files of YAML (docs/configuration.md), and the values that count.
// The command line takes precedence over the environment, that over files, and those over the
// defaults.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"

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

// Returns the value of an environment variable; empty if it is not set, or if `name` is empty.
std::string environment_value(const std::string& name);
// Returns the environment variable that can set `option`; empty if there is none.
std::string variable_of(const CLI::Option& option);

// Checks all settings against the commands of `root`, whose options it changes: pass an application
// that serves nothing else. Input errors give the place of the setting: no such command or option
// (with the nearest name), an option without a default, a value that the option refuses.
Status check_settings(CLI::App& root, const std::vector<Setting>& settings);

// Returns the setting that counts for an option of `command`; null if there is none, or if the
// environment sets the option.
const Setting* setting_of(const std::string& command, const CLI::Option& option,
                          const std::vector<Setting>& settings);

// Applies checked settings to the options of `command` that were not given as flags.
Status apply_settings(const CommandNode& command, const std::vector<Setting>& settings);

// Appends to `error` the places of those options that it names and a file has set.
Error with_places(Error error, const CommandNode& command, const std::vector<Setting>& settings);

}  // namespace hone::cli
