#include "cli/other_tools.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cli/command_tree.h"
#include "cli/help_command.h"

namespace hone::cli {
namespace {

using namespace tool;

constexpr std::string_view kTune = "tune";
constexpr std::string_view kProfiling = "generate compile profile";

struct Spelling {
  std::string_view tool;      // tool::kTuneGemm
  std::string_view commands;  // of hone, with blanks between
  std::string_view old;
  std::string_view spelling;  // hone's
};

// Flags with equal spellings (-m, --jobs, --compare) are not listed.
constexpr Spelling kSpellings[] = {
    {kTuneGemm, kTune, "-col_a", "--col-a"},
    {kTuneGemm, kTune, "-col_b", "--col-b"},
    {kTuneGemm, kTune, "-dtype_a", "--dtype-a"},
    {kTuneGemm, kTune, "-dtype_b", "--dtype-b"},
    {kTuneGemm, kTune, "-dtype_c", "--dtype-c"},
    {kTuneGemm, kTune, "--gpu_ids", "--gpu-ids"},
    {kTuneGemm, kTune, "--num_threads", "--num-threads"},
    {kTuneGemm, kTune, "--gemm_size_file", "--gemm-size-file"},
    {kTuneGemm, kTune, "--tuning_results_file", "--tuning-results-file"},
    {kTuneGemm, kTune, "--o", "--tuning-results-file"},
    {kTuneGemm, kTune, "--compare_wo_tuning", "--compare-wo-tuning"},
    {kTuneGemm, kTune, "--init_type", "--init-type"},
    {kTuneGemm, kTune, "--rotating_tensor", "--rotating-tensor"},
    {kTuneGemm, kTune, "--icache_flush", "--icache-flush"},
    {kTuneGemm, kTune, "--bias_vector", "--bias-vector"},
    {kTuneGemm, kTune, "--time_breakdown", "--time-breakdown"},
    {kTuneGemm, kTune, "--no_warmup", "--no-warmup"},
    {kModelTuners, kTune, "--devices", "--device"},
    {kModelTuners, kTune, "--num-candidates", "--candidates"},
    {kModelTuners, kTune, "--max-cpu-workers", "--jobs"},
    {kModelTuners, kTune, "--starter-td-spec", "--starter-spec"},
    {kModelTuners, kTune, "--model-tuner-num-dispatch-candidates", "--model-candidates"},
    {kModelTuners, kTune, "--model-tuner-num-model-candidates", "--model-candidates"},
    {kModelTuners, kTune, "--model-benchmark-flags-file", "--runtime-flags-file"},
    {kModelTuners, kTune, "--search-space-shuffle-seed", "--seed"},
    {kDispatchProfiler, kProfiling, "--op-kind", "--operation-kind"},
    {kDispatchProfiler, kProfiling, "--iree-hal-target-backends", "--device"},
    {kDispatchProfiler, kProfiling, "--iree-hal-cuda-llvm-target-arch", "--cuda-arch"},
    {kDispatchProfiler, kProfiling, "--iree-hal-benchmark-dispatch-repeat-count", "--batch-size"},
    {kDispatchProfiler, "compile profile", "--num-cpu", "--jobs"},
    {kDispatchProfiler, "profile", "--benchmark", "--profiling-enabled"},
};

constexpr std::string_view kTools[] = {kTuneGemm, kModelTuners, kDispatchProfiler};

struct Flag {
  std::string name;  // with the placeholder of its value
  std::string text;
  std::vector<std::string> commands;
};

// Adds a flag of a command. A flag of several commands has one line.
void add(std::vector<Flag>& flags, const std::string& name, const std::string& text,
         const std::string& command) {
  for (Flag& known : flags)
    if (known.name == name && known.text == text) return known.commands.push_back(command);
  flags.push_back({name, text, {command}});
}

bool is_underscored(std::string spelling, const std::string& name) {
  std::ranges::replace(spelling, '_', '-');
  return spelling == name;
}

// Adds an option of the tool in the tool's spellings. "--gpu_ids" stands for "--gpu-ids" too.
void add_option(std::vector<Flag>& flags, const CLI::Option& option,
                const std::vector<Spelling>& spellings, const std::string& command) {
  std::vector<std::string> names;
  bool underscored = false;
  for (const Spelling& each : spellings) {
    if (each.spelling != name_of(option)) continue;
    names.emplace_back(each.old);
    underscored = underscored || is_underscored(names.back(), name_of(option));
  }
  if (!underscored) names.insert(names.begin(), name_of(option));
  const std::string value = placeholder_of(option);
  for (const std::string& name : names)
    add(flags, value.empty() ? name : name + " " + value, option.get_description(), command);
}

// Adds the tool's options of a command, and its spellings of hone's own options.
void add_flags(std::vector<Flag>& flags, std::string_view tool, const CommandNode& command) {
  std::vector<Spelling> spellings;  // of the tool that the command accepts
  for (const Spelling& each : kSpellings)
    if (each.tool == tool && has_word(each.commands, command.path)) spellings.push_back(each);
  for (const CLI::Option* option : command.app->get_options())
    if (option->get_group() == tool) add_option(flags, *option, spellings, command.path);
  for (const Spelling& each : spellings) {
    const CLI::Option* option = command.app->get_option_no_throw(std::string(each.spelling));
    if (option != nullptr && option->get_group() != tool)
      add(flags, std::string(each.old), fmt::format("the same as {}", each.spelling), command.path);
  }
}

std::vector<Flag> flags_of(CLI::App& root, std::string_view tool) {
  std::vector<Flag> flags;
  for (const CommandNode& command : command_tree(root)) add_flags(flags, tool, command);
  return flags;
}

std::vector<std::string> commands_with(const std::vector<Flag>& flags) {
  std::vector<std::string> commands;
  for (const Flag& flag : flags)
    for (const std::string& command : flag.commands)
      if (std::ranges::count(commands, command) == 0) commands.push_back(command);
  return commands;
}

std::string line_of(const Flag& flag, std::size_t commands) {
  std::string text = flag.text;
  if (flag.commands.size() < commands)
    text += fmt::format(" (hone {})", fmt::join(flag.commands, ", "));
  return two_columns(flag.name, text);
}

}  // namespace

std::vector<std::string> with_new_spellings(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = argument.substr(0, argument.find('='));
    const auto found = std::ranges::find_if(kSpellings, [&](const Spelling& each) {
      return each.old == name && has_word(each.commands, arguments.front());
    });
    if (found != std::end(kSpellings))
      argument = std::string(found->spelling) + argument.substr(name.size());
  }
  return arguments;
}

bool is_of_other_tool(const CLI::Option& option) {
  return std::ranges::find(kTools, option.get_group()) != std::end(kTools);
}

std::string migration_text(CLI::App& root) {
  std::string text =
      "Flags of other tools, and their effect in hone (docs/migration.md). Flags with\n"
      "underscores may have dashes too.\n";
  for (const std::string_view tool : kTools) {
    const std::vector<Flag> flags = flags_of(root, tool);
    const std::vector<std::string> commands = commands_with(flags);
    text += fmt::format("\n{} (hone {}):\n", tool, fmt::join(commands, ", "));
    for (const Flag& flag : flags) text += line_of(flag, commands.size());
  }
  return text;
}

}  // namespace hone::cli
