// hone man: prints the manual page, generated from the commands.
#include <fmt/ranges.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/command_tree.h"
#include "cli/help_command.h"
#include "session/session_options.h"

namespace hone::cli {
namespace {

// Escapes text so that roff prints it unchanged.
std::string literal(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEscapes[] = {{'\\', "\\(rs"}, {'-', "\\-"},
                                                            {'\'', "\\(aq"}, {'`', "\\(ga"},
                                                            {'^', "\\(ha"},  {'~', "\\(ti"}};
  std::string roff;
  for (const char& c : text) {
    const std::string_view escape = name_in(kEscapes, c);
    roff += escape.empty() ? std::string_view(&c, 1) : escape;
  }
  // A line that begins with '.' is a request.
  if (roff.starts_with('.')) roff.insert(0, "\\&");
  return roff;
}

// Escapes text line by line, for text that is laid out already.
std::string lines(const std::string& text) {
  std::string roff;
  for (const std::string& line : CLI::detail::split(text, '\n')) roff += literal(line) + "\n";
  return roff;
}

std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : dashed_names(option)) names.push_back("\\fB" + literal(name));
  if (names.empty()) return "\\fI" + literal(option.get_name(true)) + "\\fR";
  std::string roff = fmt::format("{}\\fR", fmt::join(names, "\\fR, "));
  const auto values = values_of(option);
  if (!values.empty())
    roff += " " + literal(fmt::format("{}", fmt::join(values, "|")));
  else if (!is_flag(option))
    roff += " \\fI" + literal(placeholder_of(option)) + "\\fR";
  return roff;
}

std::string option_entry(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_default_str().empty() && !is_flag(option))
    text += fmt::format(" [{}]", option.get_default_str());
  return ".TP\n" + names_of(option) + "\n" + literal(text) + "\n";
}

std::string command_entry(const CommandNode& node) {
  std::string roff = fmt::format(".SS hone {}\n", literal(node.path));
  roff += literal(node.app->get_description()) + ".\n";
  for (const bool positional : {true, false})
    for (const CLI::Option* option : visible_options(*node.app))
      if (option->get_positional() == positional && option != node.app->get_help_ptr() &&
          name_of(*option) != "--config-file")
        roff += option_entry(*option);
  const std::string footer = node.app->get_footer();
  if (!footer.empty()) roff += ".PP\n" + lines(footer);
  for (const Example& example : examples_of(node.path))
    roff += fmt::format(".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", literal(example.explanation),
                        literal(example.line));
  return roff;
}

// Renders the manual page with roff's man macros (man(7)): every command with its options and
// examples, the environment, files and exit codes. ASCII.
std::string man_page(CLI::App& root) {
  std::string roff = fmt::format(
      ".\\\" Written by: hone man\n"
      ".TH HONE 1 \"\" \"hone {}\" \"User commands\"\n"
      ".SH NAME\nhone \\- find, prove and install the fastest configuration of kernels\n"
      ".SH SYNOPSIS\n.B hone\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n{}\n.SH COMMANDS\n"
      "Every command has\n.B \\-\\-help\nand\n.B \\-\\-config\\-file\n.IR FILE .\n"
      ".B hone help migration\nlists accepted flags of other tools.\n",
      literal(version()), literal(root.get_description()));
  for (const CommandNode& node : command_tree(root))
    if (!node.path.empty()) roff += command_entry(node);
  roff +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\ndone\n"
      ".TP\n.B 1\nfinished, with failures to look at\n"
      ".TP\n.B 2\nwrong use or wrong input\n"
      ".TP\n.B 3\nthe environment: no compiler, no device, no permission to read or write\n"
      ".TP\n.B 130\ninterrupted; the same command continues\n"
      ".SH ENVIRONMENT\n";
  for (const EnvironmentVariable& variable : environment_variables())
    roff += fmt::format(".TP\n.B {}\n{}\n", literal(variable.name), literal(variable.meaning));
  roff +=
      ".SH FILES\n"
      ".TP\n.I hone.yaml\ndefaults of options, in the working folder or a parent in its "
      "repository\n"
      ".TP\n.I \\(ti/.config/hone/config.yaml\nthe same for a user\n"
      ".TP\n.I hone.db\nthe default store; see\n.B \\-\\-store\n";
  return roff;
}

}  // namespace

void add_man_command(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand("man", "Write the manual page");
  command->callback([&run, &app] {
    run = [&app]() -> CommandResult {
      fmt::print("{}", man_page(app));
      return 0;
    };
  });
}

}  // namespace hone::cli
