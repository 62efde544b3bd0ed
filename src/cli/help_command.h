// hone help and --help: groups of commands, examples, environment. The manual page has them too.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace hone::cli {

struct Example {
  std::string_view command;      // path of the command that it is of: "spec check"
  std::string_view line;         // to be typed in the repository's root
  std::string_view explanation;  // one line
};

// Returns the examples of a command, in the order of help.
std::span<const Example> examples_of(std::string_view command);

struct EnvironmentVariable {
  std::string_view name;
  bool is_path;  // of a file or folder that must be there
  std::string_view meaning;
};

// Returns the variables that users set, without those that hone uses between its processes.
std::span<const EnvironmentVariable> environment_variables();

// Gives the commands of `root` their groups, and options that take files the placeholder FILE or
// DIR. Call it when all commands are defined.
void describe_commands(CLI::App& root);

// Formatter of "hone tune --help": wraps to 80 columns, with examples at the end.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option_usage(const CLI::Option* positional) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* command) const override;
};

// Returns "  LEFT      RIGHT": RIGHT wrapped to 80 columns in a column of its own, which begins on
// the next line behind a long LEFT.
std::string two_columns(const std::string& left, std::string_view right);

// Wraps `text` to lines of at most `width` columns. Every line but the first begins with `indent`
// blanks; `used` columns of the first are taken already. Words longer than a line stay whole.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t width = 80);

}  // namespace hone::cli
