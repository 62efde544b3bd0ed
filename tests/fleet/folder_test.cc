#include "fleet/folder.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "fleet/launcher.h"
#include "fleet/progress.h"
#include "fleet/submission.h"

namespace hone::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Fleet : public testing::Test {
 protected:
  Fleet() : temporary_(std::move(*TemporaryFolder::create("hone-fleet-test-"))) {
    plan_ = {.version = "1.2.3",
             .command = "hone tune model.mlir --launcher slurm --tasks 3",
             .executable = "/opt/hone",
             .words = {"model.mlir"},
             .folder = "/data/my models",
             .launcher = "slurm",
             .tasks = 3};
  }

  std::filesystem::path path() const { return temporary_.path() / "fleet"; }
  Folder folder() const { return std::move(*Folder::create(path(), plan_)); }
  // Puts the store of a finished shard into the folder.
  static void finish(const Folder& folder, const std::string& shard) {
    ASSERT_TRUE(write_file_atomically(folder.published(shard), "rows of " + shard));
  }
  // A shard with two dispatches of 30 expected seconds each.
  static TaskStatus running(const std::string& task, double seconds, bool first_is_done) {
    TaskStatus status{.task = task, .host = "n" + task, .version = "1.2.3", .seconds = seconds};
    status.progress = {.part = task + "/3", .split = "s", .device = "a CPU"};
    status.progress.dispatches = {{.name = "a", .expected_seconds = 30},
                                  {.name = "b", .expected_seconds = 30}};
    if (first_is_done) {
      status.progress.dispatches[0].seconds = 25;
      status.progress.dispatches[0].candidates = 100;
    }
    return status;
  }

  TemporaryFolder temporary_;
  FleetPlan plan_;
};

TEST_F(Fleet, AFolderIsMadeOnceAndOpenedByTheSamePlan) {
  EXPECT_TRUE(folder().is_new());
  EXPECT_FALSE(folder().is_new());
  EXPECT_EQ(folder().plan().folder, "/data/my models");
  const Result<Folder> opened = Folder::open(path(), "1.2.3");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->plan().tasks, 3u);
}

TEST_F(Fleet, AFolderOfAnotherTuningIsRefusedWithItsCommand) {
  folder();
  plan_.words = {"other.mlir"};
  const Result<Folder> other = Folder::create(path(), plan_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kInput);
  EXPECT_THAT(other.error().message, HasSubstr("hone tune model.mlir --launcher slurm"));
}

TEST_F(Fleet, AFolderOfAnotherVersionIsRefusedWithBoth) {
  folder();
  const Result<Folder> other = Folder::open(path(), "2.0.0");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kInput);
  EXPECT_THAT(other.error().message, HasSubstr("is of hone 1.2.3, and this is hone 2.0.0"));
}

TEST_F(Fleet, AFolderWithOtherFilesIsLeftAlone) {
  ASSERT_TRUE(write_file_atomically(path() / "thesis.tex", "text"));
  const Result<Folder> made = Folder::create(path(), plan_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kInput);
  EXPECT_EQ(*read_file(path() / "thesis.tex"), "text");
}

TEST_F(Fleet, WhatIsDecidedOnceStays) {
  const Folder fleet = folder();
  const std::filesystem::path mine = temporary_.path() / "mine",
                              theirs = temporary_.path() / "theirs";
  ASSERT_TRUE(write_file_atomically(mine, "mine"));
  ASSERT_TRUE(write_file_atomically(theirs, "theirs"));
  EXPECT_TRUE(*publish_once(mine, fleet.flags()));
  EXPECT_FALSE(*publish_once(theirs, fleet.flags()));
  EXPECT_EQ(*read_file(fleet.flags()), "mine");
  ASSERT_TRUE(publish(theirs, fleet.flags()));
  EXPECT_EQ(*read_file(fleet.flags()), "theirs");
  // Nothing but the published file is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path() / "winner"), {}), 1);
}

TEST_F(Fleet, OnlyMissingShardsAreSubmittedAgain) {
  plan_.flags = true;
  const Folder fleet = folder();
  const auto names = [&] {
    std::vector<std::string> all;
    for (const JobRequest& each : missing_jobs(fleet)) all.push_back(each.name);
    return all;
  };
  EXPECT_THAT(names(), ElementsAre("flags", "tasks", "proof"));
  ASSERT_TRUE(write_file_atomically(fleet.flags(), "flags"));
  finish(fleet, "2");
  EXPECT_THAT(names(), ElementsAre("tasks", "proof"));
  EXPECT_THAT(missing_jobs(fleet).front().tasks, ElementsAre("1", "3"));
  finish(fleet, "1");
  finish(fleet, "3");
  EXPECT_THAT(names(), ElementsAre("proof"));
  ASSERT_TRUE(write_file_atomically(fleet.proof_result(), R"({"exit_code": 0, "notes": []})"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Fleet, ShardsThatCompileElsewhereAreCompiledFirst) {
  plan_.compiles = true;
  const Folder fleet = folder();
  ASSERT_TRUE(write_file_atomically(fleet.published("compile-1"), "code"));
  EXPECT_TRUE(std::filesystem::exists(path() / "compiled" / "1.db"));
  finish(fleet, "3");
  const std::vector<JobRequest> jobs = missing_jobs(fleet);
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].name, "compile");
  EXPECT_THAT(jobs[0].tasks, ElementsAre("compile-2"));
  EXPECT_THAT(jobs[1].tasks, ElementsAre("1", "2"));
  EXPECT_EQ(jobs[2].name, "proof");
}

// The user's own partition and devices are those of the shards.
TEST_F(Fleet, SlurmCompilesInAPartitionOfItsOwnWithoutDevices) {
  plan_.compiles = true;
  const Folder fleet = folder();
  const auto launcher = slurm("--partition=gpu --gres=gpu:1 --account=ours", "cpu");
  const std::string text = launcher->script(fleet, {"compile", {"compile-1", "compile-3"}});
  EXPECT_THAT(text, HasSubstr("#SBATCH --array=1,3\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --partition=gpu --gres=gpu:1 --account=ours\n"
                              "#SBATCH --partition=cpu --gres=none --gpus=0"));
  EXPECT_THAT(text, HasSubstr("--output=" + fleet.log("compile-%a").string() + "\n"));
  EXPECT_THAT(text, HasSubstr(" compile-\"$SLURM_ARRAY_TASK_ID\"\n"));
  EXPECT_THAT(launcher->script(fleet, {"tasks", {"1"}}), Not(HasSubstr("--partition=cpu")));
}

TEST_F(Fleet, CompileTasksAreToldUntilAShardBegins) {
  plan_.compiles = true;
  const Folder fleet = folder();
  ASSERT_TRUE(fleet.write(running("compile-1", 60, true)));
  EXPECT_EQ(*beats_of(fleet), Beats({{"compile-1", 0}}));
  EXPECT_EQ(in_one_line(*progress_of(fleet, {})), "0 of 3 compile tasks done, 1 running");
  ASSERT_TRUE(fleet.write(running("1", 60, true)));
  EXPECT_THAT(in_one_line(*progress_of(fleet, {})), HasSubstr("0 of 3 tasks done, 1 running"));
}

TEST_F(Fleet, AnArrayOfSlurmNamesTheMissingShards) {
  const Folder fleet = folder();
  const std::string text =
      slurm("--partition=gpu --gres=gpu:1")->script(fleet, {"tasks", {"1", "3"}});
  EXPECT_THAT(text, HasSubstr("#SBATCH --array=1,3\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --partition=gpu --gres=gpu:1\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --chdir='/data/my models'\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --requeue\n"));
  EXPECT_THAT(text, HasSubstr("exec /opt/hone fleet task " + fleet.path().string() +
                              " \"$SLURM_ARRAY_TASK_ID\"\n"));
}

TEST_F(Fleet, ProgressIsToldFromTheFolderAlone) {
  const Folder fleet = folder();
  ASSERT_TRUE(fleet.write(running("1", 60, true)));
  const Result<FleetProgress> progress = progress_of(fleet, {});
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->count(TaskView::kRunning), 1u);
  EXPECT_EQ(progress->count(TaskView::kWaiting), 2u);
  EXPECT_EQ(progress->dispatches(), 2u);
  EXPECT_EQ(progress->done(), 1u);
  EXPECT_DOUBLE_EQ(progress->candidates_per_minute, 100);
  // 1.3 times 60 expected seconds each: 18 of the running shard, and 78 of each waiting one.
  EXPECT_DOUBLE_EQ(*progress->seconds_left, 18 + 78 + 78);
}

TEST_F(Fleet, FinishedShardsTellHowLongOthersTake) {
  const Folder fleet = folder();
  for (const char* task : {"1", "2"}) {
    TaskStatus status = running(task, 90, true);
    status.state = TaskState::kFinished;
    ASSERT_TRUE(fleet.write(status));
    finish(fleet, task);
  }
  ASSERT_TRUE(fleet.write(running("3", 40, true)));
  // 90 seconds for 60 expected ones.
  EXPECT_DOUBLE_EQ(*progress_of(fleet, {})->seconds_left, 90 - 40);
  EXPECT_FALSE(progress_of(fleet, {})->shards[2].is_straggler);
  ASSERT_TRUE(fleet.write(running("3", 200, true)));
  EXPECT_TRUE(progress_of(fleet, {})->shards[2].is_straggler);
}

TEST_F(Fleet, ATaskWhoseBeatStopsIsSilent) {
  const Folder fleet = folder();
  ASSERT_TRUE(fleet.write(running("1", 60, true)));
  EXPECT_EQ(*beats_of(fleet), Beats({{"1", 0}}));
  EXPECT_EQ(progress_of(fleet, {"1"})->count(TaskView::kSilent), 1u);
}

TEST_F(Fleet, ShardsOfDifferentDevicesAreTold) {
  const Folder fleet = folder();
  ASSERT_TRUE(fleet.write(running("1", 60, true)));
  TaskStatus other = running("2", 60, true);
  other.progress.device = "another CPU";
  ASSERT_TRUE(fleet.write(other));
  EXPECT_THAT(progress_of(fleet, {})->notes, ElementsAre(HasSubstr("a CPU, another CPU")));
}

TEST_F(Fleet, AStatusThatIsNoJsonIsNamed) {
  const Folder fleet = folder();
  ASSERT_TRUE(write_file_atomically(fleet.status_file("1"), "{"));
  const Result<FleetProgress> progress = progress_of(fleet, {});
  ASSERT_FALSE(progress);
  EXPECT_THAT(progress.error().message, HasSubstr(fleet.status_file("1").string()));
}

}  // namespace
}  // namespace hone::fleet
