// Values of options and their sources. The command line takes precedence over the environment, that
// over configuration files, and those over the defaults.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"
#include "cli/config_file.h"

namespace hone::cli {

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
