// What options are set to, and by whom: a flag on the command line counts before the environment,
// that before the configuration files, those before the defaults.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"
#include "cli/config_file.h"

namespace hone::cli {

// The environment variable that stands for `option` where it is set; empty where there is none.
std::string variable_of(const CLI::Option& option);

// Compares all settings with the commands of `root`, whose options they change: an application for
// nothing else. Input errors with the place of the setting: no such command or option (with the
// nearest name), one that has no default, a value that the option refuses.
Status check_settings(CLI::App& root, const std::vector<Setting>& settings);

// The setting that counts for an option of `command`; null where there is none, and where the
// environment has the option set.
const Setting* setting_of(const std::string& command, const CLI::Option& option,
                          const std::vector<Setting>& settings);

// Gives the options of `command` that were not given as flags what the settings (which were
// checked) say.
Status apply_settings(const CommandNode& command, const std::vector<Setting>& settings);

// `error` with the places of those options that it names and that a file has set.
Error with_places(Error error, const CommandNode& command, const std::vector<Setting>& settings);

}  // namespace hone::cli
