// hone completion: generates scripts that complete hone's command line in a shell. They hold
// everything, so that completing does not start hone.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/command_tree.h"

namespace hone::cli {
namespace {

// Kinds of words that may follow an option, or be a positional one.
enum class ValueKind { kNothing, kFile, kFolder, kList, kText };
using enum ValueKind;

ValueKind kind_of(const CLI::Option& option) {
  if (is_flag(option)) return kNothing;
  if (!values_of(option).empty()) return kList;
  const std::string placeholder = placeholder_of(option);
  if (placeholder == "FILE" || placeholder == "PATH") return kFile;
  return placeholder == "DIR" ? kFolder : kText;
}

std::vector<std::string> subcommands_of(CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* each : command.get_subcommands({}))
    if (!each->get_group().empty()) names.push_back(each->get_name());
  return names;
}

bool takes_files(CLI::App& command) {
  const auto options = visible_options(command);
  return std::ranges::any_of(options, [](const CLI::Option* option) {
    return option->get_positional() && kind_of(*option) == kFile;
  });
}

// Puts text in single quotes, which all the shells take, and escapes quotes inside.
std::string in_quotes(const std::string& text) {
  return "'" + CLI::detail::find_and_replace(text, "'", "'\\''") + "'";
}

std::string quoted_list(const std::vector<std::string>& words) {
  return in_quotes(fmt::format("{}", fmt::join(words, " ")));
}

// Finds which command the words before the cursor choose, as `path`.
std::string path_finder(CLI::App& root, const std::string& word) {
  std::string script = fmt::format("    case \"$path {}\" in\n", word);
  for (const CommandNode& node : command_tree(root)) {
    if (node.path.empty()) continue;
    const auto above = node.path.rfind(' ');
    const std::string parent = above == std::string::npos ? "" : node.path.substr(0, above);
    script += fmt::format("      {}) path={} ;;\n", in_quotes(parent + " " + node.app->get_name()),
                          in_quotes(node.path));
  }
  return script + "    esac\n";
}

std::string bash_values(const CLI::Option& option) {
  switch (kind_of(option)) {
    case kList:
      return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))",
                         quoted_list(values_of(option)));
    case kFile:
      return "_hone_files -f";
    case kFolder:
      return "_hone_files -d";
    default:
      return "";
  }
}

std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_values(const CLI::Option& option) {
  switch (kind_of(option)) {
    case kNothing:
      return "";
    case kList:
      return fmt::format(":value:({})", fmt::join(values_of(option), " "));
    case kFile:
      return ":file:_files";
    case kFolder:
      return ":folder:_files -/";
    case kText:
      return ":value:";
  }
  return "";
}

// Returns the script for bash 4 or later. It completes commands, options, the values of an option
// with a list of them, and files where one is expected; nothing for other values.
std::string bash_completion(CLI::App& root) {
  std::string script =
      "# bash completion for hone, written by: hone completion bash\n\n"
      "_hone_files() {\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
      "}\n\n"
      "_hone() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path='' i\n"
      "  COMPREPLY=()\n"
      "  # bash takes --option=value for three words.\n"
      "  if [[ $cur == '=' ]]; then\n"
      "    cur=''\n"
      "  elif [[ $prev == '=' ]]; then\n"
      "    prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n";
  script += path_finder(root, "${COMP_WORDS[i]}") + "  done\n";
  script += "  case \"$path:$prev\" in\n";
  const auto nodes = command_tree(root);
  for (const CommandNode& node : nodes)
    for (const CLI::Option* option : visible_options(*node.app)) {
      if (is_flag(*option) || option->get_expected_min() == 0) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : dashed_names(*option))
        patterns.push_back(in_quotes(node.path + ":" + name));
      if (patterns.empty()) continue;
      script += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, " | "),
                            bash_values(*option).empty() ? ":" : bash_values(*option));
    }
  script += "  esac\n  case \"$path\" in\n";
  for (const CommandNode& node : nodes) {
    std::vector<std::string> options;
    for (const CLI::Option* option : visible_options(*node.app))
      for (const std::string& name : dashed_names(*option)) options.push_back(name);
    script += fmt::format("    {})\n      if [[ $cur == -* ]]; then\n", in_quotes(node.path));
    script +=
        fmt::format("        COMPREPLY=($(compgen -W {} -- \"$cur\"))\n", quoted_list(options));
    const auto subcommands = subcommands_of(*node.app);
    if (!subcommands.empty())
      script += fmt::format("      else\n        COMPREPLY=($(compgen -W {} -- \"$cur\"))\n",
                            quoted_list(subcommands));
    else if (takes_files(*node.app))
      script += "      else\n        _hone_files -f\n";
    for (const CLI::Option* option : visible_options(*node.app))
      if (option->get_positional() && kind_of(*option) == kList)
        script += fmt::format("      else\n        {}\n", bash_values(*option));
    script += "      fi\n      ;;\n";
  }
  return script + "  esac\n}\n\ncomplete -F _hone hone\n";
}

// Returns the script for zsh, with descriptions. `#compdef hone`: a file _hone in a folder of
// $fpath.
std::string zsh_completion(CLI::App& root) {
  std::string script =
      "#compdef hone\n# zsh completion for hone, written by: hone completion zsh\n\n"
      "_hone() {\n"
      "  local path='' before\n"
      "  integer i at=1\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    before=$path\n";
  script += path_finder(root, "${words[i]}") +
            "    if [[ $path != $before ]]; then at=i; fi\n  done\n"
            "  words=(\"${(@)words[at,-1]}\")\n"
            "  ((CURRENT -= at - 1))\n"
            "  case $path in\n";
  for (const CommandNode& node : command_tree(root)) {
    script += fmt::format("    {})\n", in_quotes(node.path));
    std::vector<std::string> commands;
    for (const CLI::App* each : node.app->get_subcommands({}))
      if (!each->get_group().empty())
        commands.push_back(in_quotes(zsh_text(each->get_name()) + ":" + each->get_description()));
    if (!commands.empty())
      script += fmt::format(
          "      if ((CURRENT == 2)) && [[ ${{words[CURRENT]}} != -* ]]; then\n"
          "        local -a commands=(\n          {}\n        )\n"
          "        _describe command commands\n        return\n      fi\n",
          fmt::join(commands, "\n          "));
    script += "      _arguments";
    for (const CLI::Option* option : visible_options(*node.app)) {
      const bool repeated = option->get_expected_max() > 1;
      for (const std::string& name : dashed_names(*option))
        script += " \\\n        " +
                  in_quotes(fmt::format("{}{}{}[{}]{}", repeated ? "*" : "", name,
                                        is_flag(*option)         ? ""
                                        : name.starts_with("--") ? "="
                                                                 : "+",
                                        zsh_text(option->get_description()), zsh_values(*option)));
      if (option->get_positional())
        script += " \\\n        " + in_quotes((repeated ? "*" : "") + zsh_values(*option));
    }
    script += "\n      ;;\n";
  }
  return script +
         "  esac\n}\n\nif [[ $funcstack[1] == _hone ]]; then\n  _hone \"$@\"\nelse\n"
         "  compdef _hone hone\nfi\n";
}

std::string fish_completion(CLI::App& root) {
  std::string script =
      "# fish completion for hone, written by: hone completion fish\n\ncomplete -c hone -f\n";
  for (const CommandNode& node : command_tree(root)) {
    const auto subcommands = subcommands_of(*node.app);
    // Complete if the command was chosen and none below it yet.
    std::string condition = "__fish_use_subcommand";
    if (!node.path.empty()) {
      condition =
          "__fish_seen_subcommand_from " +
          CLI::detail::find_and_replace(node.path, " ", "; and __fish_seen_subcommand_from ");
      if (!subcommands.empty())
        condition +=
            fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(subcommands, " "));
    }
    const std::string start = "complete -c hone -n " + in_quotes(condition);
    for (const CLI::App* each : node.app->get_subcommands({}))
      if (!each->get_group().empty())
        script += fmt::format("{} -a {} -d {}\n", start, each->get_name(),
                              in_quotes(each->get_description()));
    for (const CLI::Option* option : visible_options(*node.app)) {
      const ValueKind kind = kind_of(*option);
      std::string names;
      for (const std::string& name : option->get_snames()) names += " -s " + name;
      for (const std::string& name : option->get_lnames()) names += " -l " + name;
      const std::string values = kind == kNothing  ? ""
                                 : kind == kFile   ? " -r -F"
                                 : kind == kFolder ? " -x -a '(__fish_complete_directories)'"
                                 : kind == kList
                                     ? fmt::format(" -x -a {}", quoted_list(values_of(*option)))
                                     : " -x";
      if (!names.empty())
        script += fmt::format("{}{}{} -d {}\n", start, names, values,
                              in_quotes(option->get_description()));
      else if (kind == kFile)
        script += start + " -F\n";
      else if (kind == kList)
        script += start + values + "\n";
    }
  }
  return script;
}

}  // namespace

void add_completion_command(CLI::App& app, Action& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Write a shell's completion script");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->footer("For this shell only: source <(hone completion bash)");
  command->callback([&run, &app, shell] {
    run = [&app, shell]() -> CommandResult {
      fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                       : *shell == "zsh" ? zsh_completion(app)
                                         : fish_completion(app));
      return 0;
    };
  });
}

}  // namespace hone::cli
