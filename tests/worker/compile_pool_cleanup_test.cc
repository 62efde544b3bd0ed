// Nothing is left of a job, a pool or a killed tuner.
#include <algorithm>
#include <optional>
#include <vector>

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

// In the middle of everything: hanging jobs with linkers and daemons, files, a hanging runner.
class KilledTunerTest : public CompileCleanupTest {
 protected:
  void SetUp() override {
    CompileCleanupTest::SetUp();
    mark_ = "HONE_TEST=" + folder().string();
    Command command{serving_command(kServeTuner), {{"HONE_TEST", folder().string()}}, {}};
    command.arguments.push_back(folder());
    auto tuner = ChildProcess::start(command);
    ASSERT_TRUE(tuner);
    tuner_.emplace(std::move(*tuner));
    const auto ready = folder() / "ready";
    ASSERT_TRUE(holds_soon([&] { return std::filesystem::exists(ready) || tuner_->has_ended(); }));
    ASSERT_TRUE(std::filesystem::remove(ready)) << tuner_->how_it_ended();
    // The tuner, ten below it, the runner's daemon, and two janitors of each of its two workers.
    ASSERT_TRUE(holds_soon([&] { return marked().size() >= 16u && janitors().size() == 4; }));
  }

  std::vector<pid_t> marked() const { return processes_started_with(mark_); }
  // Only they have taken the session's mark off.
  std::vector<pid_t> janitors() const {
    std::vector<pid_t> found = marked();
    const std::vector<pid_t> unmarked = processes_started_with(fmt::format("{}=", kFolderVariable));
    std::erase_if(found, [&](pid_t pid) {
      return std::find(unmarked.begin(), unmarked.end(), pid) == unmarked.end();
    });
    return found;
  }
  void kill_tuner() {
    ::kill(tuner_->pid(), SIGKILL);
    ASSERT_TRUE(tuner_->wait(10));
  }

 private:
  std::string mark_;
  std::optional<ChildProcess> tuner_;
};

TEST_F(KilledTunerTest, LeavesNothing) {
  kill_tuner();
  EXPECT_TRUE(holds_soon([&] { return marked().empty(); }));
}

TEST_F(KilledTunerTest, LeavesNothingAfterEveryJanitorWasReplaced) {
  for (const pid_t janitor : janitors()) {
    ::kill(janitor, SIGKILL);
    ASSERT_TRUE(holds_soon([&] {
      const std::vector<pid_t> now = janitors();
      return now.size() == 4 && std::find(now.begin(), now.end(), janitor) == now.end();
    })) << janitor
        << " of " << testing::PrintToString(janitors());
  }
  kill_tuner();
  EXPECT_TRUE(holds_soon([&] { return marked().empty(); }));
}

}  // namespace
}  // namespace hone::worker
