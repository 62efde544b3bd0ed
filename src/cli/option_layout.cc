#include "cli/option_layout.h"

#include <algorithm>

#include "cli/command_tree.h"
#include "cli/other_tools.h"

namespace hone::cli {
namespace {

constexpr std::string_view kOptions = "Options";  // group of CLI11 for options without another
constexpr std::size_t kFew = 12;  // so many options fit on a screen without headings

struct NamedOptions {
  std::string_view title;
  std::string_view names;  // with blanks between
};

// The most used options of commands that have many.
constexpr NamedOptions kMostUsed[] = {
    {"tune", "--effort --budget --dry-run --out --store --device --target --dim --input --json"},
    {"compare",
     "--program --dispatch --config --device --target --dim --input --threshold --find --json"},
    {"check", "--store --assert-tuned --junit --iree --dispatch --device --json"},
    {"flags", "--budget --out --store --device --target --dim --input --threads --seed --json"},
    {"dispatches",
     "--profile --quick --graph --extract-root --output --target --dim --input --store --json"},
    {"space",
     "--dispatch --check --samples --target --dim --rules --relax --audit-rule --seed --json"},
    {"generate",
     "--operation-kind --problem-m --problem-n --problem-k --types --configs --device --dispatches "
     "--generated-dir --dry-run"},
    {"compile",
     "--dispatches --operation-kind --device --generated-dir --batch-size --force-compile --jobs "
     "--flag --verbose --dry-run"},
    {"profile",
     "--dispatches --operation-kind --device --output --providers --generate --store "
     "--generated-dir --dry-run --json"},
    {"verify",
     "--dispatch --config --spec --device --target --dim --input --expected --output --json"},
    {"recheck", "--program --compile --seconds --device --threads --flag --iree --json"},
    {"spec audit", "--program --output --device --target --dim --alpha --max-rounds --json"},
    {"spec check", "--program --target --dim --json"},
    {"spec merge", "--output --program --target --dim --json"},
    {"spec upgrade", "--output --program --target --dim --json"},
    {"spec show", "--defaults --target --json"},
    {"spec external",
     "--external --out --config --device --target --dim --input --rounds --seconds --json"},
};

// Headings in the order of help, each with its options in every command.
constexpr NamedOptions kHeadings[] = {
    {heading::kOperations, ""},
    {heading::kShapes, ""},
    {"Dispatches and kernels",
     "--dispatch --coverage --top --provider --external --config --compile-only "
     "--verify-emulated --no-flags --no-program"},
    {"Several machines",
     "--shard --launcher --tasks --sbatch-args --compile-partition --fleet --checkpoint "
     "--measure-only"},
    {"Search", "--strategy --candidates --seed --relax --audit-rule --reuse --retry-failed"},
    {"Shipped build", "--starter-spec --bit-equal --no-near-ties"},
    {"Statistics", "--rounds --max-rounds --find --seconds --alpha --threshold"},
    {"Correctness",
     "--atol --rtol --save-inputs --reference-flag --verification-enabled --profiling-enabled "
     "--benchmark-repetitions"},
    {heading::kProgram,
     "--function --parameters --random-parameters --runtime-flag --runtime-flags-file"},
    {heading::kCompiler,
     "--iree --triton --flag --compile-flags-file --env --jobs "
     "--compile-timeout --compile-memory"},
    {"Device and measuring",
     "--device --hip --threads --cores --cache --kernel-timeout --no-baselines --trust"},
    {heading::kGemms, ""},
    {"Output and settings",
     "--out --append --tags --junit --report --save-cmds --verbose --quiet --plain --config-file"},
};

// Returns the options that help shows; --help is the last.
std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty() && !is_of_other_tool(*option);
  });
  std::ranges::stable_partition(
      options, [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
  return options;
}

// Moves the options with these names, in their order, from `left` to the result.
std::vector<const CLI::Option*> take(std::vector<const CLI::Option*>& left,
                                     std::string_view names) {
  std::vector<const CLI::Option*> taken;
  for (const std::string& name : words_in(names)) {
    const auto found = std::ranges::find_if(
        left, [&](const CLI::Option* option) { return name_of(*option) == name; });
    if (found == left.end()) continue;
    taken.push_back(*found);
    left.erase(found);
  }
  return taken;
}

// Returns the heading that the option names itself, else the table's.
std::string title_of(const CLI::Option& option) {
  if (option.get_group() != kOptions) return option.get_group();
  for (const NamedOptions& heading : kHeadings)
    if (has_word(heading.names, name_of(option))) return std::string(heading.title);
  return std::string(kOptions);
}

}  // namespace

std::vector<OptionSection> option_sections(const CLI::App& command, std::string_view path) {
  std::vector<const CLI::Option*> left = shown_options(command);
  const auto most_used = std::ranges::find(kMostUsed, path, &NamedOptions::title);
  if (left.size() <= kFew || most_used == std::end(kMostUsed))
    return {{std::string(kOptions), left}};
  std::vector<OptionSection> sections{{std::string(kOptions), take(left, most_used->names)}};
  for (const NamedOptions& heading : kHeadings)
    sections.push_back({std::string(heading.title), {}});
  for (const CLI::Option* option : left)
    std::ranges::find(sections, title_of(*option), &OptionSection::heading)
        ->options.push_back(option);
  std::erase_if(sections, [](const OptionSection& section) { return section.options.empty(); });
  return sections;
}

}  // namespace hone::cli
