#include "cli/command_tree.h"

#include <algorithm>
#include <sstream>

#include "cli/other_tools.h"

namespace hone::cli {
namespace {

void add(std::vector<CommandNode>& nodes, const std::string& path, CLI::App& app) {
  nodes.push_back({path, &app});
  for (CLI::App* each : app.get_subcommands({}))
    if (!each->get_group().empty())
      add(nodes, path.empty() ? each->get_name() : path + " " + each->get_name(), *each);
}

}  // namespace

std::vector<CommandNode> command_tree(CLI::App& root) {
  std::vector<CommandNode> nodes;
  add(nodes, "", root);
  return nodes;
}

CommandNode chosen_command(CLI::App& root) {
  CommandNode chosen{"", &root};
  while (!chosen.app->get_subcommands().empty()) {
    chosen.app = chosen.app->get_subcommands().front();
    chosen.path += (chosen.path.empty() ? "" : " ") + chosen.app->get_name();
  }
  return chosen;
}

std::vector<CLI::Option*> options_of(CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::vector<CLI::Option*> visible_options(CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && !is_of_other_tool(*option);
  });
}

std::vector<std::string> words_in(std::string_view list) {
  std::istringstream stream{std::string(list)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool has_word(std::string_view list, std::string_view word) {
  return std::ranges::count(words_in(list), word) > 0;
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

std::vector<std::string> dashed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool is_flag(const CLI::Option& option) {
  return option.get_expected_max() == 0;
}

std::vector<std::string> values_of(const CLI::Option& option) {
  // CLI::IsMember shows its set in the type name only: "TEXT:{warm,cold}".
  const std::string type = option.get_type_name();
  const auto from = type.find('{'), to = type.rfind('}');
  if (is_flag(option) || from == std::string::npos || to == std::string::npos || to < from)
    return {};
  return CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

std::string placeholder_of(const CLI::Option& option) {
  if (is_flag(option)) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

}  // namespace hone::cli
