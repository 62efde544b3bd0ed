#include "cli/help_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_tree.h"
#include "cli/option_layout.h"
#include "cli/other_tools.h"
#include "session/registry.h"

namespace hone::cli {
namespace {

constexpr std::size_t kTextColumn = 30;

constexpr EnvironmentVariable kVariables[] = {
    {"HONE_CONFIG", true, "configuration file to read instead of hone.yaml; empty: none"},
    {"HONE_CUBLASLT", true, "NVIDIA's libcublasLt.so, a baseline for GEMMs"},
    {"HONE_HIP", true, "AMD's libamdhip64.so, or a folder that has it"},
    {"HONE_HIPBLASLT", true, "AMD's libhipblaslt.so, a baseline for GEMMs"},
    {"HONE_IREE", true, "IREE library, virtual environment or site-packages"},
    {"HONE_TRITON", true, "Python interpreter or virtual environment with Triton"},
    {"NO_COLOR", false, "without effect: hone never prints colours"},
    {"OPENBLAS_CORETYPE", false, "kernels that OpenBLAS uses [SkylakeX if the CPU has AVX-512]"},
    {"TMPDIR", true, "folder for temporary files"},
    {"XDG_CONFIG_HOME", false, "folder of the user's hone/config.yaml [~/.config]"},
    {"XDG_STATE_HOME", false,
     "folder of hone/seal-key, which marks machine code that hone compiled [~/.local/state]"},
};

// A text that commands or options have; their names with blanks between.
struct Named {
  std::string_view text;
  std::string_view names;
};

constexpr Named kGroups[] = {
    {"Tune and prove", "tune check compare verify recheck flags"},
    {"Inspect a program", "dispatches space"},
    {"Profile operations", "generate compile profile"},
    {"Results", "store show spec report fleet"},
    {"This machine", "devices doctor selftest config"},
    {"Help and shell", "completion man help"},
};

constexpr Named kPlaceholders[] = {
    {"DEVICE", "--device"},
    {"DIR", "--generated-dir --out --save-inputs"},
    {"FILE",
     "--benchmark --compare-wo-tuning --config-file --gemm-size-file --junit "
     "--kernel --manifest --output --program --report --runtime-flags-file "
     "--recorded --save-cmds --spec --store --tuning-results-file --workload A INPUT NEW "
     "OTHER PROGRAM SPEC STORE"},
    {"FLAG", "--flag --reference-flag --runtime-flag"},
    {"GB", "--compile-memory"},
    {"LIST", "--cores"},
    {"NAME", "--audit-rule --dispatch --function --relax"},
    {"NAME=SIZE", "--dim"},
    {"NAME=VALUE", "--env"},
    {"PATH", "--hip --iree --triton"},
    {"SCOPE=FILE", "--parameters"},
    {"SECONDS", "--compile-timeout --kernel-timeout --seconds"},
    {"SHARE", "--alpha --find --threshold"},
    {"TARGET", "--target"},
    {"TIME", "--budget"},
    {"VALUES", "--check --config"},
    {"VALUE", "--input"},
};

// Returns the placeholder of an option's value; empty: the one that CLI11 gave it.
std::string placeholder_for(const CLI::Option& option) {
  for (const Named& placeholder : kPlaceholders)
    if (has_word(placeholder.names, name_of(option))) return std::string(placeholder.text);
  const std::string type = placeholder_of(option);
  return type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "NUMBER" : "";
}

std::string path_of(const CLI::App* command) {
  const CLI::App* parent = command->get_parent();
  if (parent == nullptr) return {};
  const std::string above = path_of(parent);
  return (above.empty() ? "" : above + " ") + command->get_name();
}

// Wraps a command so that it can be pasted into a shell.
std::string wrapped_command(std::string_view line) {
  return CLI::detail::find_and_replace(wrapped(line, 4, 2, 78), "\n", " \\\n");
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t width) {
  std::string result;
  std::size_t column = used;
  bool first = true;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::span<const EnvironmentVariable> environment_variables() {
  return kVariables;
}

std::string two_columns(const std::string& left, std::string_view right) {
  std::string line = "  " + left;
  if (right.empty()) return line + "\n";
  if (line.size() + 2 > kTextColumn)
    line += "\n" + std::string(kTextColumn, ' ');
  else
    line.resize(kTextColumn, ' ');
  return line + wrapped(right, kTextColumn, kTextColumn) + "\n";
}

void describe_commands(CLI::App& root) {
  root.formatter(std::make_shared<HelpFormatter>());
  for (const CommandNode& node : command_tree(root)) {
    node.app->formatter(root.get_formatter());
    for (const Named& group : kGroups)
      if (has_word(group.names, node.path)) node.app->group(std::string(group.text));
    for (CLI::Option* option : node.app->get_options())
      if (const std::string placeholder = placeholder_for(*option); !placeholder.empty())
        option->type_name(placeholder);
  }
}

HelpFormatter::HelpFormatter() {
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormatter::make_option_usage(const CLI::Option* positional) const {
  const std::string name =
      positional->get_name(true) + (positional->get_expected_max() > 1 ? "..." : "");
  return positional->get_required() ? name : "[" + name + "]";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string left =
      CLI::detail::find_and_replace(make_option_name(option, is_positional), ",", ", ");
  if (!is_positional && !is_flag(*option)) {
    const auto values = values_of(*option);
    left += " " +
            (values.empty() ? placeholder_of(*option) : fmt::format("{}", fmt::join(values, "|")));
  }
  std::string text = option->get_description();
  if (!option->get_default_str().empty() && !is_flag(*option))
    text += fmt::format(" [{}]", option->get_default_str());
  if (option->get_required() && !is_positional) text += " (required)";
  return two_columns(left, text);
}

std::string HelpFormatter::make_help(const CLI::App* command, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text =
      make_description(command) + make_usage(command, std::move(name)) + make_positionals(command);
  for (const OptionSection& section : option_sections(*command, path_of(command)))
    text += make_group(section.heading, false, section.options);
  return text + make_subcommands(command, mode) + "\n" + make_footer(command);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return two_columns(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* command) const {
  return wrapped(command->get_description(), 0, 0) + "\n\n";
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  std::string text = command->get_footer();
  if (!text.empty()) text += "\n";
  const auto examples = examples_of(path_of(command));
  if (!examples.empty()) text += (text.empty() ? "" : "\n") + std::string("Examples:\n");
  for (const Example& example : examples)
    text += fmt::format("  # {}\n  {}\n", example.explanation, wrapped_command(example.line));
  return text;
}

namespace {

std::string environment_text(CLI::App& /*root*/) {
  std::string text = "Environment variables that hone reads.\n\n";
  for (const EnvironmentVariable& each : environment_variables())
    text += two_columns(std::string(each.name), each.meaning);
  return text;
}

std::string providers_text(CLI::App& /*root*/) {
  std::string text =
      "Kernels that hone tune --provider names. By default, all available ones that suit INPUT.\n"
      "A library is measured beside the winner; no program calls it.\n\n";
  for (const RegisteredProvider& each : providers())
    text += two_columns(std::string(each.name), each.help);
  return text + two_columns("library", "a vendor's kernels: OpenBLAS, oneDNN, cuBLASLt");
}

struct Topic {
  std::string_view name;
  std::string (*text)(CLI::App& root);
};

constexpr Topic kTopics[] = {
    {"environment", environment_text},
    {"migration", migration_text},
    {"providers", providers_text},
};

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& each : kTopics) names.emplace_back(each.name);
  return names;
}

// Returns the command's help as `hone COMMAND --help` prints it.
std::string help_of(const CommandNode& command) {
  const auto above = command.path.rfind(' ');
  if (command.path.empty()) return command.app->help();
  return command.app->help("hone" +
                           (above == std::string::npos ? "" : " " + command.path.substr(0, above)));
}

CommandResult print_help(const std::vector<std::string>& words) {
  CLI::App app;  // of its own: CLI11 prints the help of a parsed one's command
  Action unused;
  add_commands(app, unused);
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  std::vector<std::string> names = topic_names();
  for (const CommandNode& command : command_tree(app)) {
    names.push_back(command.path);
    if (command.path != wanted) continue;
    fmt::print("{}", help_of(command));
    return 0;
  }
  if (const auto topic = std::ranges::find(kTopics, wanted, &Topic::name);
      topic != std::end(kTopics)) {
    fmt::print("{}", topic->text(app));
    return 0;
  }
  return input_error(
      "'{}' is no command and no topic of hone help{}; topics: {}; hone help lists "
      "the commands",
      wanted, did_you_mean(wanted, names), fmt::join(topic_names(), ", "));
}

}  // namespace

void add_help_command(CLI::App& app, Action& run) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Print the help of a command or a topic");
  std::vector<std::string> values = topic_names();
  for (const CLI::App* each : app.get_subcommands({})) values.push_back(each->get_name());
  // A type name of this form is completed by shells (values_of()).
  command
      ->add_option("TOPIC", *words,
                   fmt::format("command, or one of: {}", fmt::join(topic_names(), ", ")))
      ->type_name(fmt::format("{{{}}}", fmt::join(values, ",")));
  command->callback([&run, words] { run = [words] { return print_help(*words); }; });
}

}  // namespace hone::cli
