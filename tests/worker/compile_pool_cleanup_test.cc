// Nothing is left of a job, a pool or a killed tuner.
#include "base/process.h"
#include "tests/worker/compile_pool_fixture.h"

namespace hone::worker {
namespace {

using testing::HasSubstr;

class CompileCleanupTest : public CompilePoolTest {};

TEST_F(CompileCleanupTest, GrandchildrenAndDaemonsGoWithTheJob) {
  CompilePool& pool = start_prepared(options());
  for (const char* kind : {"grandchild", "daemon"}) {
    const Outcome from_run = run(pool, {kind, nullptr, {}});
    ASSERT_TRUE(from_run);
    EXPECT_TRUE(ends_soon(from_run->body.get<pid_t>())) << kind;
    const Outcome from_once = once(pool, {kind, nullptr, {}});
    ASSERT_TRUE(from_once);
    EXPECT_TRUE(ends_soon(from_once->body.get<pid_t>())) << kind;
  }
}

TEST_F(CompileCleanupTest, TheJobsFolderIsRemoved) {
  CompilePool& pool = start_prepared(options());
  for (const Outcome& outcome :
       {run(pool, {"files", nullptr, {}}), once(pool, {"files", nullptr, {}})}) {
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(std::filesystem::exists(outcome->body["tmpdir"].get<std::string>()));
  }
}

TEST_F(CompileCleanupTest, AWorkerStartedByHandRemovesNoFolderOfTheUsers) {
  const Command command{serving_command(kServeCompile), {{kFolderVariable, folder().string()}}, {}};
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 2);
  EXPECT_THAT(result->standard_error.text(), HasSubstr("this command is for hone's own use"));
  EXPECT_TRUE(std::filesystem::exists(folder()));
}

TEST_F(CompileCleanupTest, TheNextStartRemovesWhatWorkersLeftThatDiedWithTheirTuner) {
  const auto abandoned = folder() / "hone-worker-0123";
  std::filesystem::create_directories(abandoned / "once-1");
  Command command{{"sleep", "1000"}, {{kFolderVariable, abandoned.string()}}, {}};
  auto linker = ChildProcess::start(command);
  ASSERT_TRUE(linker);
  std::filesystem::create_directory(folder() / "of-somebody-else");
  start();
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(linker->wait(10));
  EXPECT_TRUE(std::filesystem::remove(folder() / "of-somebody-else"));
}

TEST_F(CompileCleanupTest, TheNextStartLeavesWhatIsInUse) {
  CompilePool& first = start_prepared(options());
  {
    const auto second = CompilePool::start(options());
    ASSERT_TRUE(second);
    EXPECT_TRUE((*second)->prepare("d", {"echo", "second", {}}));
    EXPECT_EQ(state(first), "prepared");
  }
  EXPECT_TRUE(once(first, {"files", nullptr, {}}));
}

// The tuner is killed in the middle of everything: hanging jobs with linkers and daemons, files,
// a hanging runner.
TEST_F(CompileCleanupTest, NothingIsLeftWhenTheTunerIsKilled) {
  Command command{serving_command(kServeTuner), {{"HONE_TEST", folder().string()}}, {}};
  command.arguments.push_back(folder());
  auto tuner = ChildProcess::start(command);
  ASSERT_TRUE(tuner);
  const auto ready = folder() / "ready";
  while (!std::filesystem::exists(ready) && !tuner->has_ended())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(std::filesystem::remove(ready)) << tuner->how_it_ended();
  const std::string mark = "HONE_TEST=" + folder().string();
  EXPECT_GE(processes_started_with(mark).size(), 14u);
  ::kill(tuner->pid(), SIGKILL);
  ASSERT_TRUE(tuner->wait(10));
  EXPECT_TRUE(holds_soon([&] { return processes_started_with(mark).empty(); }));
}

}  // namespace
}  // namespace hone::worker
