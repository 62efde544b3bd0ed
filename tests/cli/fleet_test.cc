// hone tune --shard and --launcher, hone fleet: what is refused before anything runs.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Fleet : public HoneCommand {};

TEST_F(Fleet, APartThatIsNoneIsRefused) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--shard", "4/3"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--shard '4/3' is no part of a tuning: write 3/16"));
}

TEST_F(Fleet, APartGoesNotWithAPlan) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--shard", "1/3", "--dry-run"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--shard 1/3 and --dry-run exclude each other"));
}

TEST_F(Fleet, WithoutSlurmNothingIsLeftBehind) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--launcher", "slurm", "--out", "out"},
                       {{"PATH", folder().string()}});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("--launcher slurm needs Slurm's programs"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "fleet"));
}

// A task sees only the devices that it is given.
TEST_F(Fleet, ADeviceOfTheSubmittingMachineIsRefused) {
  const Ran ran =
      hone({"tune", example("matmul_512.mlir"), "--launcher", "slurm", "--device", "cuda:1"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("write --device cuda:0"));
}

TEST_F(Fleet, TheScriptsArePrintedAndNotWritten) {
  const Ran ran =
      hone({"tune", example("matmul_512.mlir"), "--launcher", "slurm", "--tasks", "3", "--budget",
            "90s", "--sbatch-args", "--partition=gpu --gres=gpu:1", "--dry-run"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("#SBATCH --array=1,2,3\n"));
  EXPECT_THAT(ran.out, HasSubstr("#SBATCH --partition=gpu --gres=gpu:1\n"));
  // The flags come first, and the proof last.
  EXPECT_LT(ran.out.find("--job-name=hone-flags"), ran.out.find("--job-name=hone-tasks"));
  EXPECT_LT(ran.out.find("--job-name=hone-tasks"), ran.out.find("--job-name=hone-proof"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "fleet"));
}

TEST_F(Fleet, CodeIsCompiledOnOtherNodesForANamedTargetOnly) {
  const auto launch = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"tune", example("matmul_512.mlir"), "--dry-run",
                                   "--compile-partition", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return hone(words);
  };
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const Ran ran = launch(more);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  expect_refused({}, "add --launcher slurm");
  expect_refused({"--launcher", "hq", "--target", "sm_90"}, "leave it out with --launcher hq");
  expect_refused({"--launcher", "slurm"}, "name it: --target sm_90 for a GPU");
  expect_refused({"--launcher", "slurm", "--target", "znver4"}, "name a level: --target x86-64-v3");
  expect_refused({"--launcher", "slurm", "--target", "sm_90", "--strategy", "model"},
                 "learns from measurements, and --compile-partition measures nothing");
  const Ran ran = launch({"--launcher", "slurm", "--target", "sm_90", "--tasks", "2"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_LT(ran.out.find("--job-name=hone-flags"), ran.out.find("--job-name=hone-compile"));
  EXPECT_LT(ran.out.find("--job-name=hone-compile"), ran.out.find("--job-name=hone-tasks"));
}

TEST_F(Fleet, OnlyShardsHavePhases) {
  const Ran fleet =
      hone({"tune", example("matmul_512.mlir"), "--launcher", "slurm", "--measure-only"});
  EXPECT_EQ(fleet.exit_code, 2);
  EXPECT_THAT(fleet.err, HasSubstr("--launcher and --measure-only exclude each other"));
  for (const std::string part : {"flags", "proof"})
    for (const std::string phase : {"--compile-only", "--measure-only"}) {
      const Ran ran = hone({"tune", example("matmul_512.mlir"), "--shard", part, phase});
      EXPECT_EQ(ran.exit_code, 2);
      EXPECT_THAT(ran.err, HasSubstr("--shard " + part + " and " + phase + " exclude each other"));
    }
}

TEST_F(Fleet, NamedDispatchesNeedNoFlagSearch) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--launcher", "slurm", "--dispatch",
                        "*matmul*", "--dry-run"});
  EXPECT_THAT(ran.out, Not(HasSubstr("hone-flags")));
}

TEST_F(Fleet, AFolderWithoutAPlanIsNoFleet) {
  const Ran ran = hone({"fleet", "status", "."});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("'.' is no fleet folder: it has no plan.json"));
}

TEST_F(Fleet, OperationsOfASweepAreDivided) {
  std::set<std::string> seen;
  for (const char* shard : {"1/2", "2/2"}) {
    const Ran ran = hone({"profile", "--device", "cpu", "--generate", "--dry-run", "-m", "64,128",
                          "-n", "64", "-k", "64", "--shard", shard});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(seen.insert(ran.out).second);
  }
  const Ran whole =
      hone({"profile", "--shard", "proof", "--generate", "--device", "cpu", "-m", "64"});
  EXPECT_EQ(whole.exit_code, 2);
  EXPECT_THAT(whole.err, HasSubstr("hone profile has shards only"));
}

}  // namespace
}  // namespace hone::cli
