// Help and the manual page: what they show is true of the commands.
#include <gmock/gmock.h>

#include <sstream>

#include "cli/application.h"
#include "cli/command.h"
#include "cli/command_tree.h"
#include "cli/help_command.h"
#include "cli/option_layout.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Help : public HoneCommand {
 protected:
  Help() { add_commands(app_, run_); }
  CLI::App app_;
  cli::Action run_;
};

// The command of an example, as a shell splits it: none holds quotes.
std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line.substr(0, line.find_first_of("|>&")))};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST_F(Help, EveryCommandHasExamplesThatParse) {
  for (const CommandNode& node : command_tree(app_)) {
    if (!node.app->get_subcommands({}).empty()) continue;
    EXPECT_GE(examples_of(node.path).size(), 2u) << node.path;
    for (const Example& example : examples_of(node.path)) {
      std::vector<std::string> words = words_of(example.line);
      ASSERT_EQ(words.front(), "hone");
      words.erase(words.begin());
      CLI::App app;
      cli::Action run;
      add_commands(app, run);
      const auto parsed = parse_words(app, words);
      ASSERT_TRUE(parsed) << example.line << ": " << parsed.error().message;
      EXPECT_EQ(chosen_command(app).path, node.path) << example.line;
      EXPECT_TRUE(run) << example.line;
      // Programs in examples/ are there.
      for (const std::string& word : words)
        if (word.starts_with("examples/")) {
          EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(HONE_SOURCE_DIR) / word))
              << example.line;
        }
    }
  }
}

TEST_F(Help, EveryCommandHasAGroup) {
  for (const CLI::App* command : app_.get_subcommands({}))
    EXPECT_NE(command->get_group(), "Subcommands") << command->get_name();
}

TEST_F(Help, LinesAreOf80ColumnsAtMost) {
  for (const CommandNode& node : command_tree(app_)) {
    std::istringstream lines(node.app->help());
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80u) << node.path << ": " << line;
  }
}

TEST_F(Help, AnOptionTakesTwoLinesAtMost) {
  const HelpFormatter formatter;
  const auto lines_of = [&](const CLI::Option& option) {
    return std::ranges::count(formatter.make_option(&option, option.get_positional()), '\n');
  };
  for (const CommandNode& node : command_tree(app_))
    for (const CLI::Option* option : visible_options(*node.app)) {
      EXPECT_FALSE(option->get_description().empty()) << node.path << ": " << name_of(*option);
      EXPECT_LE(lines_of(*option), 2) << node.path << ": " << name_of(*option);
    }
}

TEST_F(Help, ALongCommandBeginsWithItsTenMostUsedOptions) {
  const auto names_of = [](const OptionSection& section) {
    std::vector<std::string> names;
    for (const CLI::Option* option : section.options) names.push_back(name_of(*option));
    return names;
  };
  EXPECT_THAT(names_of(option_sections(*app_.get_subcommand("tune"), "tune").front()),
              testing::ElementsAre("--effort", "--budget", "--dry-run", "--out", "--store",
                                   "--device", "--target", "--dim", "--input", "--json", "--help"));
  for (const CommandNode& node : command_tree(app_)) {
    const std::vector<OptionSection> sections = option_sections(*node.app, node.path);
    std::size_t shown = 0, positional = 0;
    for (const OptionSection& section : sections) shown += section.options.size();
    for (const CLI::Option* option : visible_options(*node.app))
      positional += option->get_positional() ? 1 : 0;
    EXPECT_EQ(shown + positional, visible_options(*node.app).size()) << node.path;
    EXPECT_LE(sections.front().options.size(), sections.size() == 1 ? 12u : 11u) << node.path;
    EXPECT_EQ(names_of(sections.front()).back(), "--help") << node.path;
  }
}

TEST_F(Help, HidesTheFlagsOfOtherTools) {
  EXPECT_THAT(hone({"tune", "--help"}).out, testing::Not(testing::HasSubstr("--gemm-size-file")));
  EXPECT_THAT(hone({"generate", "--help"}).out, testing::Not(testing::HasSubstr("--use-wmma")));
  EXPECT_THAT(hone({"man"}).out, testing::Not(testing::HasSubstr("gemm\\-size\\-file")));
}

TEST_F(Help, ShowsTheValuesTheDefaultAndAnExample) {
  const Ran ran = hone({"tune", "--help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out,
              testing::HasSubstr("  --cache warm|cold           warm or cold operands [warm]\n"));
  EXPECT_THAT(ran.out, testing::HasSubstr("  hone tune examples/feed_forward.mlir --out out"));
  EXPECT_THAT(hone({}).out, testing::HasSubstr("\nThis machine:\n  devices "));
}

TEST_F(Help, LongExamplesCanBePasted) {
  EXPECT_THAT(hone({"tune", "--help"}).out,
              testing::HasSubstr("--compile-only \\\n    --candidates 20\n"));
}

TEST_F(Help, TextIsWrappedAtBlanks) {
  EXPECT_EQ(wrapped("one two  three", 2, 0, 7), "one two\n  three");
  EXPECT_EQ(wrapped("one two", 2, 5, 8), "one\n  two");
  EXPECT_EQ(wrapped("unbreakable", 2, 0, 4), "unbreakable");
}

TEST_F(Help, TheManualPageHasEveryCommandOptionAndExample) {
  const std::string page = hone({"man"}).out;
  EXPECT_THAT(page, testing::StartsWith(".\\\" Written by: hone man\n.TH HONE 1 \"\" \"hone "));
  for (const CommandNode& node : command_tree(app_))
    if (!node.path.empty()) {
      EXPECT_THAT(page, testing::HasSubstr("\n.SS hone " + node.path + "\n"));
    }
  EXPECT_THAT(page, testing::HasSubstr(".TP\n\\fB\\-\\-cache\\fR warm|cold\nwarm or cold operands "
                                       "[warm]\n"));
  EXPECT_THAT(page, testing::HasSubstr("hone store gc hone.db\n"));
  for (const char* section :
       {"NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES"})
    EXPECT_THAT(page, testing::HasSubstr(std::string("\n.SH ") + section + "\n"));
}

TEST_F(Help, TheManualPageIsSoundRoff) {
  const std::string page = hone({"man"}).out;
  // Lines that begin with a dot are requests of the man macros and nothing else.
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::ranges::all_of(line, [](unsigned char c) { return c < 128; })) << line;
    if (!line.starts_with('.')) continue;
    const std::string request = line.substr(1, line.find(' ') - 1);
    EXPECT_THAT((std::vector<std::string>{"\\\"", "TH", "SH", "SS", "TP", "PP", "B", "I", "IR",
                                          "RS", "RE", "nf", "fi"}),
                testing::Contains(request))
        << line;
  }
  write("hone.1", page);
  const auto groff =
      run_process({{"groff", "-man", "-ww", "-Tutf8", "-z", "hone.1"}, {}, folder()});
  if (groff) {
    EXPECT_EQ(groff->standard_error.text(), "");
  }
}

}  // namespace
}  // namespace hone::cli
