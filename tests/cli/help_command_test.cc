// hone help: the help of commands, and pages about topics.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class HelpCommand : public HoneCommand {};

using testing::HasSubstr;
using testing::Not;

TEST_F(HelpCommand, WithoutATopicListsCommandsAndTopics) {
  const Ran ran = hone({"help"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, hone({"--help"}).out);
  EXPECT_THAT(ran.out, HasSubstr("\n  tune  "));
  EXPECT_THAT(ran.out, HasSubstr("hone help migration"));
}

TEST_F(HelpCommand, OfACommandIsItsHelp) {
  EXPECT_EQ(hone({"help", "tune"}).out, hone({"tune", "--help"}).out);
  EXPECT_EQ(hone({"help", "spec", "check"}).out, hone({"spec", "check", "--help"}).out);
  EXPECT_EQ(hone({"help", "help"}).out, hone({"help", "--help"}).out);
}

TEST_F(HelpCommand, AnUnknownTopicNamesTheTopics) {
  const Ran ran = hone({"help", "migrations"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "hone: 'migrations' is no command and no topic of hone help (did you mean "
            "'migration'?); topics: environment, migration, providers; hone help lists the "
            "commands\n");
}

TEST_F(HelpCommand, WorksBesideABrokenConfigurationFile) {
  write("hone.yaml", "tune: [");
  EXPECT_EQ(hone({"help", "environment"}).exit_code, 0);
}

TEST_F(HelpCommand, MigrationListsEachFlagByTool) {
  const std::string page = hone({"help", "migration"}).out;
  EXPECT_THAT(page, HasSubstr("\ntune_gemm.py (hone tune):\n"
                              "  --gemm_size_file FILE       tune the GEMMs of FILE (same as "
                              "INPUT)\n"));
  EXPECT_THAT(page, HasSubstr("\n  --devices                   the same as --device\n"));
  EXPECT_THAT(page, HasSubstr("\nIREE's dispatch profiler (hone generate, compile, profile):\n"));
  // A flag that not every command of the tool takes names those that do.
  EXPECT_THAT(page, HasSubstr("the same as --jobs (hone compile, profile)\n"));
  EXPECT_THAT(page, HasSubstr("\n  --use-wmma                  refused: "));
}

TEST_F(HelpCommand, FlagsOfOtherToolsAreStillAccepted) {
  const Ran ran = hone({"generate", "--op-kind", "matmul", "-m", "64", "-n", "64", "-k", "64",
                        "--iree-hal-target-backends=cpu", "--mlir-dialect=linalg", "--use-mma-sync",
                        "--configs", "default", "--dry-run"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("matmul_64x64x64"));
  EXPECT_THAT(hone({"tune", "--iters", "20"}).err, HasSubstr("hone: --iters 20: "));
}

TEST_F(HelpCommand, AConfigurationFileMayHoldFlagsOfOtherTools) {
  write("hone.yaml", "tune:\n  gpu-ids: 0,1\n");
  const std::string shown = hone({"config", "tune"}).out;
  EXPECT_THAT(shown, HasSubstr("--gpu-ids"));
  EXPECT_THAT(shown, Not(HasSubstr("--num-threads")));  // it has its default
}

TEST_F(HelpCommand, EveryVariableAndProviderHasALine) {
  EXPECT_THAT(hone({"help", "environment"}).out,
              HasSubstr("\n  HONE_IREE                   IREE library, "));
  EXPECT_THAT(hone({"help", "providers"}).out,
              HasSubstr("\n  triton                      Triton's"));
}

}  // namespace
}  // namespace hone::cli
