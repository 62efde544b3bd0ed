// Commands as CLI11 describes them, for everything generated from them: shell completion, the
// manual page, the configuration file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct CommandNode {
  std::string path;  // "tune", "spec check"; empty for hone itself
  CLI::App* app;
};

// Returns hone itself, its commands and theirs, in the order of definition. Skips those for hone's
// own use (the workers).
std::vector<CommandNode> command_tree(CLI::App& root);

// Returns the command that the words parsed by `root` chose.
CommandNode chosen_command(CLI::App& root);

// Returns a command's options that users may give, positional ones and those of other tools
// included.
std::vector<CLI::Option*> options_of(CLI::App& command);
// Returns them without those of other tools, which help, the manual and completion do not show.
std::vector<CLI::Option*> visible_options(CLI::App& command);

// Returns the words of a list with blanks between.
std::vector<std::string> words_in(std::string_view list);
bool has_word(std::string_view list, std::string_view word);

// Returns "--budget", "-m" or "INPUT".
std::string name_of(const CLI::Option& option);
// Returns "-m" and "--budget", every name that an option has with its dashes.
std::vector<std::string> dashed_names(const CLI::Option& option);
bool is_flag(const CLI::Option& option);
// Returns the values that an option allows, if it has a list of them: "warm", "cold".
std::vector<std::string> values_of(const CLI::Option& option);
// Returns the placeholder of the value in help: "FILE", "TEXT"; empty for a flag.
std::string placeholder_of(const CLI::Option& option);

}  // namespace hone::cli
