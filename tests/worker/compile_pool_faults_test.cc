// What a compiler may do to its process, and to those above it.
#include <unistd.h>

#include "tests/worker/compile_pool_fixture.h"

namespace hone::worker {
namespace {

using provider::FailureKind;
using testing::HasSubstr;
using testing::StartsWith;

class CompileFaultsTest : public CompilePoolTest {};

TEST_F(CompileFaultsTest, ACrashIsTheCandidatesOwn) {
  CompilePool& pool = start_prepared(options());
  ASSERT_TRUE(pool.submit("d", 1, {"segv", nullptr, {}}));
  ASSERT_TRUE(pool.submit("d", 2, {"fpe", nullptr, {}}));
  ASSERT_TRUE(pool.submit("d", 3, {"echo", 3, {}}));
  const auto outcomes = finish_all(pool);
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileCrash);
  EXPECT_EQ(outcomes.at(1).error().message, "SIGSEGV\nabout to die of 11");
  EXPECT_EQ(outcomes.at(2).error().kind, FailureKind::kCompileCrash);
  EXPECT_EQ(outcomes.at(2).error().message, "SIGFPE\nabout to die of 8");
  EXPECT_EQ(outcomes.at(3)->body["body"], 3);
  EXPECT_EQ(pool.restarts(), 0);
}

TEST_F(CompileFaultsTest, FailuresKeepTheirKindAndGetTheCompilersWords) {
  CompilePool& pool = start_prepared(options());
  const Outcome failed = run(pool, {"fail", nullptr, {}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FailureKind::kNotApplied);
  EXPECT_EQ(failed.error().message, "dropped\ncompiler: error: no");
  const Outcome thrown = run(pool, {"throw", nullptr, {}});
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().kind, FailureKind::kCompileError);
  EXPECT_EQ(thrown.error().message, "thrown words");
}

// SIGKILL is no fault of its own: somebody's, or the system's that had no memory left.
TEST_F(CompileFaultsTest, OneKilledFromOutsideIsRunOnceMore) {
  CompilePool& pool = start(options());
  const std::string mark = folder() / "mark";
  const auto is_done_the_second_time = [&](const Outcome& outcome) {
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(std::filesystem::remove(mark));
  };
  is_done_the_second_time(*pool.prepare("d", {"kill-once", mark, {}}));
  is_done_the_second_time(run(pool, {"kill-once", mark, {}}));
  is_done_the_second_time(once(pool, {"kill-once", mark, {}}));
  for (const Outcome& outcome :
       {run(pool, {"kill", nullptr, {}}), once(pool, {"kill", nullptr, {}})}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, FailureKind::kCompileKilled);
    EXPECT_THAT(outcome.error().message, StartsWith("SIGKILL, not sent by hone"));
  }
  EXPECT_EQ(state(pool), mark) << "the server is the one that was prepared the second time";
  EXPECT_EQ(pool.restarts(), 0);
}

TEST_F(CompileFaultsTest, OneThatPassesItsTimeIsRunOnceMore) {
  CompilePoolOptions limited = options();
  limited.run.seconds = limited.once.seconds = limited.prepare.seconds = 0.3;
  CompilePool& pool = start(limited);
  const std::string mark = folder() / "mark";
  const auto is_done_the_second_time = [&](const Outcome& outcome) {
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(std::filesystem::remove(mark));
  };
  is_done_the_second_time(*pool.prepare("d", {"hang-once", mark, {}}));
  is_done_the_second_time(run(pool, {"hang-once", mark, {}}));
  is_done_the_second_time(once(pool, {"hang-once", mark, {}}));
}

TEST_F(CompileFaultsTest, AHangIsATimeoutOnceItHasPassedTwiceTheLimit) {
  CompilePoolOptions limited = options();
  limited.run.seconds = limited.once.seconds = 0.2;
  CompilePool& pool = start_prepared(limited);
  for (const Outcome& outcome :
       {run(pool, {"hang", nullptr, {}}), once(pool, {"files-hang", nullptr, {}})}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, FailureKind::kCompileTimeout);
    EXPECT_EQ(outcome.error().message, "no end after 400 ms");
  }
}

TEST_F(CompileFaultsTest, EatingMemoryIsCaughtAlsoInAGrandchild) {
  CompilePoolOptions limited = options();
  limited.run.memory_bytes = limited.once.memory_bytes = 512u << 20;
  CompilePool& pool = start_prepared(limited);
  for (const Outcome& outcome :
       {run(pool, {"eat", nullptr, {}}), once(pool, {"eat-below", nullptr, {}})}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, FailureKind::kCompileMemory);
    EXPECT_EQ(outcome.error().message, "more than 0.50 GiB of memory");
  }
}

TEST_F(CompileFaultsTest, AFloodOfWordsIsCutInTheMiddle) {
  CompilePool& pool = start_prepared(options());
  EXPECT_TRUE(run(pool, {"flood", nullptr, {}}));
  const Outcome outcome = run(pool, {"flood-fail", nullptr, {}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, StartsWith("said no\nfirst words\nxxx"));
  EXPECT_THAT(outcome.error().message, testing::EndsWith("x\nlast words"));
  EXPECT_THAT(outcome.error().message, HasSubstr("bytes left out"));
  EXPECT_LT(outcome.error().message.size(), 66000u);
}

TEST_F(CompileFaultsTest, NoAnswerAndNonsenseAreCrashes) {
  CompilePool& pool = start_prepared(options());
  const Outcome silent = run(pool, {"silent", nullptr, {}});
  EXPECT_EQ(silent.error().kind, FailureKind::kCompileCrash);
  EXPECT_EQ(silent.error().message, "exit code 3 without an answer");
  const Outcome half = once(pool, {"half", nullptr, {}});
  EXPECT_EQ(half.error().kind, FailureKind::kCompileCrash);
  EXPECT_EQ(half.error().message, "exit code 0 without an answer");
  const Outcome garbage = run(pool, {"garbage", nullptr, {}});
  EXPECT_EQ(garbage.error().kind, FailureKind::kCompileCrash);
  EXPECT_THAT(garbage.error().message, HasSubstr("does not start with 'HONE'"));
}

TEST_F(CompileFaultsTest, APrepareThatFailsLeavesNoServer) {
  CompilePoolOptions limited = options();
  limited.prepare.seconds = 0.2;
  CompilePool& pool = start(limited);
  const auto kind_of = [&](const char* behaviour) {
    const auto outcome = pool.prepare("d", {behaviour, nullptr, {}});
    EXPECT_TRUE(outcome);
    EXPECT_FALSE(*outcome);
    EXPECT_FALSE(pool.submit("d", 1, {"echo", nullptr, {}}));
    return outcome->error().kind;
  };
  EXPECT_EQ(kind_of("segv"), FailureKind::kCompileCrash);
  EXPECT_EQ(kind_of("hang"), FailureKind::kCompileTimeout);
  EXPECT_EQ(kind_of("fail"), FailureKind::kNotApplied);
  ASSERT_TRUE(pool.prepare("d", {"echo", nullptr, {}}));
  EXPECT_TRUE(run(pool, {"echo", nullptr, {}}));
}

TEST_F(CompileFaultsTest, ADeadServerIsPreparedAgainAndTheCulpritFound) {
  CompilePool& pool = start_prepared(options());
  ASSERT_TRUE(pool.submit("d", 1, {"kill-parent", nullptr, {}}));
  for (JobId id = 2; id <= 6; ++id) ASSERT_TRUE(pool.submit("d", id, {"state", nullptr, {}}));
  const auto outcomes = finish_all(pool);
  ASSERT_EQ(outcomes.size(), 6u);
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileKilled);
  EXPECT_THAT(outcomes.at(1).error().message, HasSubstr("its prepared server died: SIGKILL"));
  for (JobId id = 2; id <= 6; ++id) EXPECT_EQ(outcomes.at(id)->body, "prepared") << id;
  EXPECT_EQ(pool.restarts(), 2);
}

TEST_F(CompileFaultsTest, AServerThatDiesOnceMoreWhilePreparedAgainCostsNoCandidate) {
  CompilePool& pool = start(options());
  ASSERT_TRUE(*pool.prepare("d", {"segv-second", folder() / "calls", {}}));
  const std::string mark = folder() / "mark";
  ASSERT_TRUE(pool.submit("d", 1, {"kill-parent-once", mark, {}}));
  for (JobId id = 2; id <= 6; ++id) ASSERT_TRUE(pool.submit("d", id, {"state", nullptr, {}}));
  const auto outcomes = finish_all(pool);
  ASSERT_EQ(outcomes.size(), 6u);
  for (const auto& [id, outcome] : outcomes)
    EXPECT_TRUE(outcome) << id << ": " << outcome.error().message;
  EXPECT_EQ(*read_file(folder() / "calls"), "xxx");
  std::filesystem::remove(folder() / "calls");
  std::filesystem::remove(mark);
}

TEST_F(CompileFaultsTest, ADeadZygoteIsStartedAgain) {
  CompilePool& pool = start_prepared(options());
  const pid_t first = pool.zygote_pid();
  ::kill(first, SIGKILL);
  EXPECT_EQ(state(pool), "prepared");
  EXPECT_NE(pool.zygote_pid(), first);
  EXPECT_EQ(pool.restarts(), 1);
  EXPECT_TRUE(ends_soon(first));
  // A once-job that kills it is run twice; one that does so once is done the second time.
  const std::string mark = folder() / "mark";
  EXPECT_TRUE(once(pool, {"kill-parent-once", mark, {}}));
  std::filesystem::remove(mark);
  const Outcome outcome = once(pool, {"kill-parent", nullptr, {}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("the compile worker died: SIGKILL"));
  EXPECT_EQ(state(pool), "prepared");
}

TEST_F(CompileFaultsTest, AStoppedServerCostsItsCandidate) {
  CompilePoolOptions limited = options();
  limited.run.seconds = 0.1;
  CompilePool& pool = start_prepared(limited);
  const Outcome pid = run(pool, {"pid", nullptr, {}});
  ASSERT_TRUE(pid);
  ::kill(pid->body["parent"].get<pid_t>(), SIGSTOP);
  EXPECT_EQ(state(pool), "prepared");
  EXPECT_EQ(pool.restarts(), 1);
}

TEST_F(CompileFaultsTest, AWorkerThatDoesNotStartIsNamedWithItsWords) {
  CompilePoolOptions broken = options();
  broken.command = {"sh", "-c", "echo cannot open the compiler >&2; exit 3"};
  auto pool = CompilePool::start(broken);
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(pool.error().message, HasSubstr("did not start: exit code 3\ncannot open the"));
  broken.command = {"/no/such/program"};
  pool = CompilePool::start(broken);
  ASSERT_FALSE(pool);
  EXPECT_THAT(pool.error().message, HasSubstr("cannot run '/no/such/program'"));
  broken.command = {"sleep", "1000"};
  broken.start_seconds = 0.1;
  pool = CompilePool::start(broken);
  ASSERT_FALSE(pool);
  EXPECT_THAT(pool.error().message, HasSubstr("did not say hello in 100 ms"));
}

TEST_F(CompileFaultsTest, AMessageTooLargeIsAFailedJob) {
  CompilePool& pool = start_prepared(options());
  const Message large{"echo", nullptr, std::vector<std::string>(1025)};
  const Outcome outcome = run(pool, large);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("too large to send"));
  EXPECT_TRUE(run(pool, {"echo", nullptr, {}}));
}

}  // namespace
}  // namespace hone::worker
