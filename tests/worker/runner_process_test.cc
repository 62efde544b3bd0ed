#include "worker/runner_process.h"

#include <unistd.h>

#include "tests/worker/worker_test.h"

namespace hone::worker {
namespace {

using provider::FailureKind;
using testing::HasSubstr;
using testing::StartsWith;

class RunnerProcessTest : public WorkerTest {
 protected:
  RunnerOptions options() const {
    RunnerOptions options;
    options.command = serving_command(kServeRunner);
    options.temporary = folder();
    return options;
  }

  static Outcome call(RunnerProcess& runner, const Message& message, double seconds = 60) {
    auto outcome = runner.call(message, seconds);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : Outcome(tl::unexpected(provider::Failure{}));
  }
};

TEST_F(RunnerProcessTest, OneProcessAnswersCallAfterCall) {
  RunnerProcess runner(options());
  EXPECT_EQ(runner.generation(), 0u);
  EXPECT_EQ(runner.pid(), -1);
  const Outcome first = call(runner, {"pid", nullptr, {}});
  const Outcome second = call(runner, {"pid", nullptr, {}});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body, second->body);
  EXPECT_EQ(first->body["pid"], runner.pid());
  EXPECT_EQ(runner.generation(), 1u);
}

TEST_F(RunnerProcessTest, BlobsComeBack) {
  RunnerProcess runner(options());
  const std::string blob(std::size_t{8} << 20, 'b');
  const Outcome outcome = call(runner, {"echo", 1, {blob}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->blobs, std::vector<std::string>{blob});
}

TEST_F(RunnerProcessTest, ACrashIsNamedAndTheNextCallStartsAnew) {
  RunnerProcess runner(options());
  const Outcome segv = call(runner, {"segv", nullptr, {}});
  ASSERT_FALSE(segv);
  EXPECT_EQ(segv.error().kind, FailureKind::kKernelCrash);
  EXPECT_EQ(segv.error().message, "SIGSEGV\nabout to die of 11");
  EXPECT_EQ(runner.pid(), -1);
  const Outcome fpe = call(runner, {"fpe", nullptr, {}});
  EXPECT_EQ(fpe.error().message, "SIGFPE\nabout to die of 8");
  EXPECT_EQ(runner.generation(), 2u);
  EXPECT_TRUE(call(runner, {"echo", nullptr, {}}));
  EXPECT_EQ(runner.generation(), 3u);
}

TEST_F(RunnerProcessTest, OneKilledFromOutsideHasNotCrashed) {
  RunnerProcess runner(options());
  const Outcome killed = call(runner, {"kill", nullptr, {}});
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().kind, FailureKind::kKernelKilled);
  EXPECT_EQ(killed.error().message, "SIGKILL");
  EXPECT_TRUE(call(runner, {"echo", nullptr, {}}));
}

TEST_F(RunnerProcessTest, AHangIsATimeoutAndTheGroupGoes) {
  RunnerProcess runner(options());
  const Outcome grandchild = call(runner, {"grandchild", nullptr, {}});
  ASSERT_TRUE(grandchild);
  const pid_t pid = runner.pid();
  const Outcome outcome = call(runner, {"files-hang", nullptr, {}}, 0.2);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, FailureKind::kKernelTimeout);
  EXPECT_EQ(outcome.error().message, "no answer after 200 ms");
  EXPECT_TRUE(ends_soon(pid));
  EXPECT_TRUE(ends_soon(grandchild->body.get<pid_t>()));
}

TEST_F(RunnerProcessTest, AStoppedRunnerIsATimeout) {
  RunnerProcess runner(options());
  ASSERT_TRUE(runner.start());
  ::kill(runner.pid(), SIGSTOP);
  EXPECT_EQ(call(runner, {"echo", nullptr, {}}, 0.2).error().kind, FailureKind::kKernelTimeout);
  EXPECT_TRUE(call(runner, {"echo", nullptr, {}}));
}

TEST_F(RunnerProcessTest, ARunnerThatDiedBetweenCallsIsReplaced) {
  RunnerProcess runner(options());
  ASSERT_TRUE(runner.start());
  ::kill(runner.pid(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(call(runner, {"echo", nullptr, {}}));
  EXPECT_EQ(runner.generation(), 2u);
}

// It cannot have begun what it is asked next, whose failure this must not become.
TEST_F(RunnerProcessTest, AKillIsFoundBeforeTheNextCall) {
  RunnerProcess runner(options());
  ASSERT_TRUE(runner.start());
  ::kill(runner.pid(), SIGKILL);
  EXPECT_TRUE(runner.ensure_ready());
  EXPECT_EQ(runner.generation(), 2u);
  EXPECT_TRUE(call(runner, {"echo", nullptr, {}}));
  EXPECT_TRUE(runner.ensure_ready());
  EXPECT_EQ(runner.generation(), 2u);
}

// No tuner looks any more, as if it had been killed with its runner.
TEST_F(RunnerProcessTest, ItsJanitorCleansUpAfterARunnerThatDiesAlone) {
  const auto session = folder() / "hone-worker-0123";
  const Command command{serving_command(kServeRunner), {{kFolderVariable, session.string()}}, {}};
  auto runner = ChildProcess::start(command);
  ASSERT_TRUE(runner);
  EXPECT_TRUE(holds_soon([&] { return is_readable(runner->socket()); }));  // hello
  ::kill(runner->pid(), SIGKILL);                                          // not its group
  EXPECT_TRUE(holds_soon([&] { return !std::filesystem::exists(session); }));
  EXPECT_TRUE(holds_soon([&] {
    return processes_started_with(std::string(kFolderVariable) + "=" + session.string()).empty();
  }));
}

TEST_F(RunnerProcessTest, AStoppedRunnerEndsWithItsTuner) {
  const auto session = folder() / "hone-worker-0123";
  const Command command{serving_command(kServeRunner), {{kFolderVariable, session.string()}}, {}};
  auto runner = ChildProcess::start(command);
  ASSERT_TRUE(runner);
  EXPECT_TRUE(holds_soon([&] { return is_readable(runner->socket()); }));  // hello
  ::kill(runner->pid(), SIGSTOP);
  runner->take_socket();
  EXPECT_TRUE(runner->wait(10));
  EXPECT_EQ(runner->exit_signal(), SIGKILL);
}

TEST_F(RunnerProcessTest, EatingMemoryIsCaught) {
  RunnerOptions limited = options();
  limited.memory_bytes = 512u << 20;
  RunnerProcess runner(limited);
  const Outcome outcome = call(runner, {"eat", nullptr, {}});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, FailureKind::kKernelCrash);
  EXPECT_EQ(outcome.error().message, "more than 0.50 GiB of memory");
}

TEST_F(RunnerProcessTest, FailuresAndExceptionsAreAnswers) {
  RunnerProcess runner(options());
  EXPECT_EQ(call(runner, {"fail", nullptr, {}}).error().kind, FailureKind::kNotApplied);
  const Outcome thrown = call(runner, {"throw", nullptr, {}});
  EXPECT_EQ(thrown.error().kind, FailureKind::kKernelCrash);
  EXPECT_EQ(thrown.error().message, "thrown words");
  EXPECT_EQ(runner.generation(), 1u);
}

TEST_F(RunnerProcessTest, NoAnswerAndNonsenseAreCrashes) {
  RunnerProcess runner(options());
  EXPECT_EQ(call(runner, {"silent", nullptr, {}}).error().message, "no answer, exit code 3");
  const Outcome garbage = call(runner, {"garbage", nullptr, {}});
  EXPECT_EQ(garbage.error().kind, FailureKind::kKernelCrash);
  EXPECT_THAT(garbage.error().message, HasSubstr("does not start with 'HONE'"));
}

TEST_F(RunnerProcessTest, AFloodOfWordsDoesNotBlockTheAnswer) {
  RunnerProcess runner(options());
  EXPECT_TRUE(call(runner, {"flood", nullptr, {}}));
}

TEST_F(RunnerProcessTest, IsInterruptedByItsStopDescriptor) {
  auto stop = make_pipe();
  ASSERT_TRUE(stop);
  RunnerOptions stoppable = options();
  stoppable.stop_fd = stop->first.get();
  RunnerProcess runner(stoppable);
  std::thread press([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(stop->second.get(), "x", 1), 1);
  });
  const auto outcome = runner.call({"hang", nullptr, {}}, 0);
  press.join();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(runner.pid(), -1);
}

TEST_F(RunnerProcessTest, OneThatDoesNotStartIsNamed) {
  RunnerOptions broken = options();
  broken.command = {"false"};
  RunnerProcess runner(broken);
  const auto outcome = runner.call({"echo", nullptr, {}}, 1);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "the runner 'false' did not start: exit code 1");
}

}  // namespace
}  // namespace hone::worker
