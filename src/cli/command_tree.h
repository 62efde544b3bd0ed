// The commands as CLI11 describes them, for what is generated from that: shell completion, the
// manual page, the configuration file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hone::cli {

struct CommandNode {
  std::string path;  // "tune", "spec check"; empty for hone itself
  CLI::App* app;
};

// hone itself, its commands and theirs, in the order of definition; those for hone's own use (the
// workers) are left out.
std::vector<CommandNode> command_tree(CLI::App& root);

// The command that the words given to `root`, which has parsed them, chose.
CommandNode chosen_command(CLI::App& root);

// A command's options that people may give, positional ones included.
std::vector<CLI::Option*> visible_options(CLI::App& command);

// "--budget", "-m" or "INPUT".
std::string name_of(const CLI::Option& option);
bool is_flag(const CLI::Option& option);
// What an option may be set to, where that is a list: "warm", "cold".
std::vector<std::string> values_of(const CLI::Option& option);
// What stands for the value in help: "FILE", "TEXT"; empty for a flag.
std::string placeholder_of(const CLI::Option& option);

}  // namespace hone::cli
