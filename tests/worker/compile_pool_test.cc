#include "worker/compile_pool.h"

#include <unistd.h>

#include <fstream>
#include <map>

#include "base/fd.h"
#include "base/process.h"
#include "tests/worker/worker_test.h"

namespace hone::worker {
namespace {

using provider::FailureKind;
using testing::HasSubstr;
using testing::StartsWith;

class CompilePoolTest : public WorkerTest {
 protected:
  CompilePoolOptions options() const {
    CompilePoolOptions options;
    options.command = serving_command(kServeCompile);
    options.jobs = 2;
    options.temporary = folder();
    return options;
  }

  void TearDown() override {
    pool_.reset();
    WorkerTest::TearDown();
  }

  CompilePool& start(const CompilePoolOptions& options) {
    auto pool = CompilePool::start(options);
    EXPECT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
    return *pool_;
  }
  CompilePool& start() { return start(options()); }
  CompilePool& start_prepared(const CompilePoolOptions& options) {
    CompilePool& pool = start(options);
    const auto prepared = pool.prepare("d", {"echo", "prepared", {}});
    EXPECT_TRUE(prepared && *prepared);
    return pool;
  }

  // The outcome of a job that the pool itself has no trouble with.
  static Outcome once(CompilePool& pool, const Message& message) {
    auto outcome = pool.once(message);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : Outcome(tl::unexpected(provider::Failure{}));
  }
  static std::map<JobId, Outcome> finish_all(CompilePool& pool) {
    std::map<JobId, Outcome> outcomes;
    while (true) {
      auto finished = pool.next_finished();
      EXPECT_TRUE(finished) << finished.error().message;
      if (!finished || !*finished) return outcomes;
      EXPECT_TRUE(outcomes.emplace((*finished)->id, (*finished)->outcome).second);
    }
  }
  static Outcome run(CompilePool& pool, const Message& message) {
    EXPECT_TRUE(pool.submit("d", 7, message));
    const auto outcomes = finish_all(pool);
    EXPECT_EQ(outcomes.size(), 1u);
    return outcomes.at(7);
  }
  // What a candidate finds prepared, or why it finds nothing.
  static std::string state(CompilePool& pool) {
    const Outcome outcome = run(pool, {"state", nullptr, {}});
    return outcome ? outcome->body.get<std::string>() : outcome.error().message;
  }

 private:
  std::unique_ptr<CompilePool> pool_;
};

TEST_F(CompilePoolTest, OnceRunsInAProcessAndAFolderOfItsOwn) {
  CompilePool& pool = start();
  const Outcome first = once(pool, {"echo", {{"m", 512}}, {std::string("\0blob", 5)}});
  const Outcome second = once(pool, {"echo", 2, {}});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kind, "echo");
  EXPECT_EQ(first->body["body"], nlohmann::json({{"m", 512}}));
  EXPECT_EQ(first->blobs, std::vector<std::string>{std::string("\0blob", 5)});
  EXPECT_THAT(first->body["tmpdir"].get<std::string>(), StartsWith(folder().string()));
  EXPECT_NE(first->body["tmpdir"], second->body["tmpdir"]);
  EXPECT_FALSE(std::filesystem::exists(first->body["tmpdir"].get<std::string>()));
}

TEST_F(CompilePoolTest, ACandidateSeesWhatItsDispatchPrepared) {
  CompilePool& pool = start();
  ASSERT_TRUE(pool.prepare("a", {"echo", "state of a", {}}));
  ASSERT_TRUE(pool.prepare("b", {"echo", "state of b", {}}));
  ASSERT_TRUE(pool.submit("a", 1, {"state", nullptr, {}}));
  ASSERT_TRUE(pool.submit("b", 2, {"state", nullptr, {}}));
  EXPECT_EQ(pool.outstanding(), 2u);
  const auto outcomes = finish_all(pool);
  EXPECT_EQ(outcomes.at(1)->body, "state of a");
  EXPECT_EQ(outcomes.at(2)->body, "state of b");
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST_F(CompilePoolTest, PreparingAnewReplacesAndReleasingForgets) {
  CompilePool& pool = start();
  ASSERT_TRUE(pool.prepare("d", {"echo", 1, {}}));
  ASSERT_TRUE(pool.prepare("d", {"echo", 2, {}}));
  EXPECT_EQ(run(pool, {"state", nullptr, {}})->body, 2);
  ASSERT_TRUE(pool.submit("d", 8, {"hang", nullptr, {}}));
  ASSERT_TRUE(pool.release("d"));
  EXPECT_EQ(pool.outstanding(), 0u);
  const Status submitted = pool.submit("d", 9, {"echo", 1, {}});
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().message, "no dispatch was prepared under the name 'd'");
}

TEST_F(CompilePoolTest, TwoJobsAreInFlightAndNoMore) {
  CompilePool& pool = start_prepared(options());
  // One hangs; the others get past it through the second place, one after the other.
  ASSERT_TRUE(pool.submit("d", 1, {"hang", nullptr, {}}));
  for (JobId id = 2; id <= 5; ++id) ASSERT_TRUE(pool.submit("d", id, {"pid", nullptr, {}}));
  for (JobId id = 2; id <= 5; ++id) {
    const auto finished = pool.next_finished();
    ASSERT_TRUE(finished && *finished);
    EXPECT_EQ((*finished)->id, id);
  }
  ASSERT_TRUE(pool.submit("d", 6, {"hang", nullptr, {}}));
  ASSERT_TRUE(pool.submit("d", 7, {"echo", nullptr, {}}));
  const auto none = pool.next_finished(0.2);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(pool.outstanding(), 3u);
  ASSERT_TRUE(pool.cancel_all());
  EXPECT_EQ(pool.outstanding(), 0u);
  ASSERT_TRUE(pool.submit("d", 7, {"echo", "after", {}}));  // the id may come again
  const auto outcomes = finish_all(pool);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes.at(7)->body["body"], "after");
}

TEST_F(CompilePoolTest, ACrashIsTheCandidatesOwn) {
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

TEST_F(CompilePoolTest, FailuresKeepTheirKindAndGetTheCompilersWords) {
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

TEST_F(CompilePoolTest, AHangIsATimeout) {
  CompilePoolOptions limited = options();
  limited.run.seconds = limited.once.seconds = 0.2;
  CompilePool& pool = start_prepared(limited);
  for (const Outcome& outcome :
       {run(pool, {"hang", nullptr, {}}), once(pool, {"files-hang", nullptr, {}})}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, FailureKind::kCompileTimeout);
    EXPECT_EQ(outcome.error().message, "no end after 200 ms");
  }
}

TEST_F(CompilePoolTest, EatingMemoryIsCaughtAlsoInAGrandchild) {
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

TEST_F(CompilePoolTest, AFloodOfWordsIsCutInTheMiddle) {
  CompilePool& pool = start_prepared(options());
  EXPECT_TRUE(run(pool, {"flood", nullptr, {}}));
  const Outcome outcome = run(pool, {"flood-fail", nullptr, {}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, StartsWith("said no\nfirst words\nxxx"));
  EXPECT_THAT(outcome.error().message, testing::EndsWith("x\nlast words"));
  EXPECT_THAT(outcome.error().message, HasSubstr("bytes left out"));
  EXPECT_LT(outcome.error().message.size(), 66000u);
}

TEST_F(CompilePoolTest, NoAnswerAndNonsenseAreCrashes) {
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

TEST_F(CompilePoolTest, GrandchildrenAndDaemonsGoWithTheJob) {
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

TEST_F(CompilePoolTest, TheJobsFolderIsRemoved) {
  CompilePool& pool = start_prepared(options());
  for (const Outcome& outcome :
       {run(pool, {"files", nullptr, {}}), once(pool, {"files", nullptr, {}})}) {
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(std::filesystem::exists(outcome->body["tmpdir"].get<std::string>()));
  }
}

TEST_F(CompilePoolTest, ALargeAnswerComesThrough) {
  CompilePool& pool = start_prepared(options());
  const Outcome outcome = run(pool, {"large", 32 << 20, {}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->blobs.at(0), std::string(std::size_t{32} << 20, 'b'));
}

TEST_F(CompilePoolTest, APrepareThatFailsLeavesNoServer) {
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

TEST_F(CompilePoolTest, ADeadServerIsPreparedAgainAndTheCulpritFound) {
  CompilePool& pool = start_prepared(options());
  ASSERT_TRUE(pool.submit("d", 1, {"kill-parent", nullptr, {}}));
  for (JobId id = 2; id <= 6; ++id) ASSERT_TRUE(pool.submit("d", id, {"state", nullptr, {}}));
  const auto outcomes = finish_all(pool);
  ASSERT_EQ(outcomes.size(), 6u);
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileCrash);
  EXPECT_THAT(outcomes.at(1).error().message, HasSubstr("its prepared server died: SIGKILL"));
  for (JobId id = 2; id <= 6; ++id) EXPECT_EQ(outcomes.at(id)->body, "prepared") << id;
  EXPECT_EQ(pool.restarts(), 2);
}

TEST_F(CompilePoolTest, AServerThatDiesOnceMoreWhilePreparedAgainCostsNoCandidate) {
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

TEST_F(CompilePoolTest, ADeadZygoteIsStartedAgain) {
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

TEST_F(CompilePoolTest, AStoppedServerCostsItsCandidate) {
  CompilePoolOptions limited = options();
  limited.run.seconds = 0.1;
  CompilePool& pool = start_prepared(limited);
  const Outcome pid = run(pool, {"pid", nullptr, {}});
  ASSERT_TRUE(pid);
  ::kill(pid->body["parent"].get<pid_t>(), SIGSTOP);
  EXPECT_EQ(state(pool), "prepared");
  EXPECT_EQ(pool.restarts(), 1);
}

TEST_F(CompilePoolTest, NothingRunsWhilePaused) {
  CompilePool& pool = start_prepared(options());
  const std::string mark = folder() / "mark";
  ASSERT_TRUE(pool.submit("d", 1, {"sleep", 0.1, {}}));
  ASSERT_TRUE(pool.submit("d", 2, {"sleep", 0.1, {}}));
  ASSERT_TRUE(pool.submit("d", 3, {"echo", nullptr, {}}));
  ASSERT_TRUE(pool.pause());
  std::size_t finished = 0;
  while (true) {
    const auto next = pool.next_finished();
    ASSERT_TRUE(next);
    if (!*next) break;
    ++finished;
  }
  const std::size_t kept = pool.outstanding();
  EXPECT_EQ(finished + kept, 3u);
  // Below the zygote there is the prepared server and nothing else.
  EXPECT_EQ(descendants_of(pool.zygote_pid()).size(), 1u);
  ASSERT_TRUE(pool.resume());
  EXPECT_EQ(finish_all(pool).size(), kept);
}

TEST_F(CompilePoolTest, IsInterruptedByItsStopDescriptor) {
  auto stop = make_pipe();
  ASSERT_TRUE(stop);
  CompilePoolOptions stoppable = options();
  stoppable.stop_fd = stop->first.get();
  CompilePool& pool = start_prepared(stoppable);
  ASSERT_TRUE(pool.submit("d", 1, {"hang", nullptr, {}}));
  std::thread press([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(stop->second.get(), "x", 1), 1);
  });
  const auto finished = pool.next_finished();
  press.join();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(pool.once({"echo", nullptr, {}}).error().kind, ErrorKind::kInterrupted);
}

TEST_F(CompilePoolTest, AWorkerThatDoesNotStartIsNamedWithItsWords) {
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

TEST_F(CompilePoolTest, AWorkerStartedByHandRemovesNoFolderOfTheUsers) {
  const Command command{serving_command(kServeCompile), {{kFolderVariable, folder().string()}}, {}};
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 2);
  EXPECT_THAT(result->standard_error.text(), HasSubstr("this command is for hone's own use"));
  EXPECT_TRUE(std::filesystem::exists(folder()));
}

TEST_F(CompilePoolTest, TheNextStartRemovesWhatWorkersLeftThatDiedWithTheirTuner) {
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

TEST_F(CompilePoolTest, TheNextStartLeavesWhatIsInUse) {
  CompilePool& first = start_prepared(options());
  {
    const auto second = CompilePool::start(options());
    ASSERT_TRUE(second);
    EXPECT_TRUE((*second)->prepare("d", {"echo", "second", {}}));
    EXPECT_EQ(state(first), "prepared");
  }
  EXPECT_TRUE(once(first, {"files", nullptr, {}}));
}

TEST_F(CompilePoolTest, AMessageTooLargeIsAFailedJob) {
  CompilePool& pool = start_prepared(options());
  const Message large{"echo", nullptr, std::vector<std::string>(1025)};
  const Outcome outcome = run(pool, large);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("too large to send"));
  EXPECT_TRUE(run(pool, {"echo", nullptr, {}}));
}

// The tuner is killed in the middle of everything: hanging jobs with linkers and daemons, files,
// a hanging runner.
TEST_F(CompilePoolTest, NothingIsLeftWhenTheTunerIsKilled) {
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
