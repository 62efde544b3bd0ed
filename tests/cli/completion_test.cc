// Completion as a bash does it: the script is loaded and its function called with the words of a
// command line. What zsh and fish make of theirs is looked at where those are installed.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Completion : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    write("hone.bash", hone({"completion", "bash"}).out);
    write("program.mlir", "");
    write("a folder/inside.mlir", "");
  }

  // What the last of `words` may be.
  std::vector<std::string> complete(const std::vector<std::string>& words) const {
    std::string script =
        "source hone.bash\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n"
        "_hone\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    Command bash{{"bash", "--norc", "-c", script, "bash"}, {}, folder()};
    bash.arguments.insert(bash.arguments.end(), words.begin(), words.end());
    const auto ran = run_process(bash);
    EXPECT_TRUE(ran && ran->succeeded()) << (ran ? ran->standard_error.text() : "");
    EXPECT_EQ(ran->standard_error.text(), "");
    std::vector<std::string> found;
    std::istringstream lines(ran->standard_output.text());
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) found.push_back(line);
    return found;
  }

  // Whether a shell takes a script; nothing where the shell is not installed.
  std::string syntax_errors(const std::string& shell, const std::string& script) const {
    write("script", script);
    const auto ran = run_process({{shell, "-n", "script"}, {}, folder()});
    if (!ran) return "";
    return ran->standard_error.text();
  }
};

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST_F(Completion, CommandsOfHoneAndOfACommand) {
  EXPECT_THAT(complete({"hone", "t"}), ElementsAre("tune"));
  EXPECT_THAT(complete({"hone", ""}), Contains("doctor"));
  EXPECT_THAT(complete({"hone", ""}), Not(Contains("worker")));
  EXPECT_THAT(complete({"hone", "store", "re"}), ElementsAre("rescue"));
}

TEST_F(Completion, OptionsOfTheCommandThatWasChosen) {
  EXPECT_THAT(complete({"hone", "tune", "--budg"}), ElementsAre("--budget"));
  EXPECT_THAT(complete({"hone", "tune", "x.mlir", "--json", "--strat"}), ElementsAre("--strategy"));
  EXPECT_THAT(complete({"hone", "spec", "check", "--prog"}), ElementsAre("--program"));
  EXPECT_THAT(complete({"hone", "devices", "--budg"}), IsEmpty());
}

TEST_F(Completion, NoFlagsOfOtherTools) {
  EXPECT_THAT(complete({"hone", "tune", "--gemm"}), IsEmpty());
  EXPECT_THAT(complete({"hone", "generate", "--use"}), IsEmpty());
}

TEST_F(Completion, TopicsOfHelp) {
  EXPECT_THAT(complete({"hone", "help", "mig"}), ElementsAre("migration"));
  EXPECT_THAT(complete({"hone", "help", "t"}), ElementsAre("tune"));
}

TEST_F(Completion, TheValuesThatAnOptionTakes) {
  EXPECT_THAT(complete({"hone", "tune", "--cache", ""}), ElementsAre("warm", "cold"));
  EXPECT_THAT(complete({"hone", "tune", "--cache", "=", "c"}), ElementsAre("cold"));
  EXPECT_THAT(complete({"hone", "tune", "--cache", "="}), ElementsAre("warm", "cold"));
  EXPECT_THAT(complete({"hone", "tune", "--strategy", "ex"}), ElementsAre("exhaustive"));
  EXPECT_THAT(complete({"hone", "tune", "--seed", ""}), IsEmpty());
  EXPECT_THAT(complete({"hone", "completion", "f"}), ElementsAre("fish"));
}

TEST_F(Completion, FilesWhereOneIsExpected) {
  EXPECT_THAT(complete({"hone", "tune", "prog"}), ElementsAre("program.mlir"));
  EXPECT_THAT(complete({"hone", "tune", "--store", "a f"}), ElementsAre("a folder"));
  EXPECT_THAT(complete({"hone", "tune", "--out", ""}), ElementsAre("a folder"));
}

TEST_F(Completion, ScriptsAreOfTheShellsLanguage) {
  EXPECT_EQ(syntax_errors("bash", hone({"completion", "bash"}).out), "");
  EXPECT_EQ(syntax_errors("zsh", hone({"completion", "zsh"}).out), "");
  EXPECT_EQ(syntax_errors("fish", hone({"completion", "fish"}).out), "");
  EXPECT_EQ(hone({"completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
