#include "base/process.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "base/process_tree.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Command shell(const std::string& script) {
  return {{"sh", "-c", script}, {}, {}};
}

// Whether the process goes, or becomes a zombie that init has yet to reap.
bool ends_soon(pid_t pid) {
  for (int round = 0; round < 1000; ++round) {
    if (::kill(pid, 0) != 0 || resident_bytes(pid) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Capture, KeepsWhatFits) {
  Capture capture(10);
  capture.add("12345");
  capture.add("67890");
  EXPECT_EQ(capture.text(), "1234567890");
  EXPECT_EQ(capture.dropped(), 0u);
}

TEST(Capture, KeepsHeadAndTailAndCountsTheMiddle) {
  Capture capture(10);
  for (int i = 0; i < 100; ++i) capture.add("abc");
  EXPECT_EQ(capture.dropped(), 290u);
  EXPECT_EQ(capture.text(), "abcab\n[... 290 bytes left out ...]\nbcabc");
  capture.add("0123456789");
  EXPECT_EQ(capture.dropped(), 300u);
  EXPECT_EQ(capture.text(), "abcab\n[... 300 bytes left out ...]\n56789");
}

TEST(RunProcess, GivesExitCodeAndBothStreams) {
  const auto result = run_process(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_FALSE(result->succeeded());
  EXPECT_EQ(result->standard_output.text(), "out\n");
  EXPECT_EQ(result->standard_error.text(), "err\n");
  EXPECT_EQ(describe(*result, {}), "exit code 3");
}

TEST(RunProcess, PassesArgumentsAsTheyAre) {
  const auto result = run_process({{"printf", "%s|", "a b", "$HOME", "*"}, {}, {}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->standard_output.text(), "a b|$HOME|*|");
}

TEST(RunProcess, ChangesEnvironmentAndFolder) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  Command command = shell("echo $HONE_A-${HOME-unset}; pwd");
  command.environment = {{"HONE_A", "1"}, {"HOME", std::nullopt}};
  command.folder = folder->path();
  const auto result = run_process(command);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->standard_output.text(), "1-unset\n" + folder->path().string() + "\n");
}

TEST(RunProcess, StandardInputIsEmpty) {
  const auto result = run_process({{"cat"}, {}, {}}, {.seconds = 10});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
}

TEST(RunProcess, NamesAProgramThatIsNotThere) {
  const auto result = run_process({{"no-such-program"}, {}, {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(result.error().message, "cannot run 'no-such-program': No such file or directory");
}

TEST(RunProcess, NamesAFolderThatIsNotThere) {
  const auto result = run_process({{"true"}, {}, "/no/such/folder"});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("/no/such/folder"));
  EXPECT_FALSE(run_process({}));
}

TEST(RunProcess, NamesTheSignal) {
  const auto result = run_process(shell("kill -SEGV $$"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->signal, SIGSEGV);
  EXPECT_EQ(result->exit_code, -1);
  EXPECT_EQ(describe(*result, {}), "SIGSEGV");
}

TEST(RunProcess, EndsWhatTakesTooLong) {
  const ProcessLimits limits{.seconds = 0.2};
  const auto result = run_process(shell("echo begun; sleep 100"), limits);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGKILL);
  EXPECT_EQ(result->standard_output.text(), "begun\n");
  EXPECT_EQ(describe(*result, limits), "no end after 200 ms");
}

TEST(RunProcess, EndsWhatTakesTooMuchMemoryCountingGrandchildren) {
  const ProcessLimits limits{.seconds = 60, .memory_bytes = 256u << 20};
  // `head | tail` keeps 512 MiB of one line in tail, a grandchild.
  const auto result = run_process(shell("head -c 1G /dev/zero | tail; true"), limits);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->out_of_memory);
  EXPECT_FALSE(result->timed_out);
  EXPECT_GT(result->peak_resident_bytes, limits.memory_bytes);
  EXPECT_EQ(describe(*result, limits), "more than 0.2 GiB of memory");
}

TEST(RunProcess, SurvivesAFloodOfOutput) {
  const auto result =
      run_process(shell("echo first; head -c 1G /dev/zero; echo last"), {.output_bytes = 4096});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
  const std::string text = result->standard_output.text();
  EXPECT_EQ(text.substr(0, 6), "first\n");
  EXPECT_EQ(text.substr(text.size() - 5), "last\n");
  EXPECT_EQ(result->standard_output.dropped(), (1u << 30) + 6 + 5 - 4096);
}

TEST(RunProcess, KillsGrandchildrenInItsGroup) {
  const auto result = run_process(shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(result);
  EXPECT_TRUE(ends_soon(std::stoi(result->standard_output.text())));
}

TEST(RunProcess, KillsADaemonThatLeftGroupAndParent) {
  const auto result =
      run_process(shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2; exit 0"));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
  EXPECT_TRUE(ends_soon(std::stoi(result->standard_output.text())));
}

TEST(RunProcess, IsInterruptedByItsStopDescriptor) {
  auto stop = make_pipe();
  ASSERT_TRUE(stop);
  std::thread press([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(stop->second.get(), "x", 1), 1);
  });
  const auto result = run_process(shell("sleep 1000"), {}, stop->first.get());
  press.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kInterrupted);
}

TEST(RunProcess, InheritsNoDescriptor) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const UniqueFd leaked(::dup(pipe->first.get()));  // not closed on exec
  const auto result = run_process({{"ls", "/proc/self/fd"}, {}, {}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->standard_output.text(), "0\n1\n2\n3\n");  // 3 is ls reading the folder
}

TEST(ChildProcess, TalksOverItsSocketAndEndsWithIt) {
  auto child =
      ChildProcess::start(shell("read line <&3; echo got $line >&3; read line <&3; exit 7"));
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_EQ(::send(child->socket(), "hello\n", 6, MSG_NOSIGNAL), 6);
  char answer[32];
  const ssize_t count = ::recv(child->socket(), answer, sizeof answer, 0);
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(answer, static_cast<std::size_t>(count)), "got hello\n");
  EXPECT_EQ(child->how_it_ended(), "running");
  child->take_socket();
  ASSERT_TRUE(child->wait(10));
  EXPECT_EQ(child->exit_code(), 7);
  EXPECT_EQ(child->how_it_ended(), "exit code 7");
}

TEST(ChildProcess, IsKilledWithItsGrandchildren) {
  pid_t pid = -1;
  std::vector<pid_t> grandchildren;
  {
    auto child = ChildProcess::start(shell("sleep 1000 & sleep 1000 & wait"));
    ASSERT_TRUE(child);
    pid = child->pid();
    while (grandchildren.size() < 2) grandchildren = descendants_of(pid);
    EXPECT_EQ(process_group_of(grandchildren[0]), pid);
  }
  EXPECT_TRUE(ends_soon(pid));
  for (const pid_t grandchild : grandchildren) EXPECT_TRUE(ends_soon(grandchild));
}

TEST(ChildProcess, WhatItPrintsIsCaptured) {
  auto child = ChildProcess::start(shell("echo out; echo err >&2; kill -FPE $$"));
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->wait(10));
  Capture printed;
  EXPECT_EQ(read_available(child->error_pipe(), printed), ReadState::kEnd);
  EXPECT_EQ(printed.text(), "out\nerr\n");
  EXPECT_EQ(child->exit_signal(), SIGFPE);
  EXPECT_EQ(child->how_it_ended(), "SIGFPE");
}

TEST(ProcessTree, NamesSignals) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(77), "signal 77");
}

TEST(ProcessTree, AGoneProcessIsEmpty) {
  constexpr pid_t kNone = 1 << 30;
  EXPECT_THAT(children_of(kNone), IsEmpty());
  EXPECT_EQ(resident_bytes(kNone), 0u);
  EXPECT_EQ(process_group_of(kNone), -1);
}

TEST(ProcessTree, ReadsItsOwnMemory) {
  const std::uint64_t before = resident_bytes(::getpid());
  std::string touched(std::size_t{64} << 20, 'x');
  EXPECT_GT(resident_bytes(::getpid()), before + (60u << 20));
  EXPECT_EQ(touched.back(), 'x');
}

// Its environment has no place for a moment while it executes its program: looking once, or by two
// looks that fall on both sides of that moment, left one of a thousand alive on busy cores.
TEST(ProcessTree, WhatHasJustBeenStartedIsKilledByItsEnvironmentToo) {
  for (int started = 0; started < 100; ++started) {
    const std::string mark = fmt::format("{}-{}", ::getpid(), started);
    auto child = ChildProcess::start({{"sleep", "1000"}, {{"HONE_TEST_MARK", mark}}, {}});
    ASSERT_TRUE(child);
    kill_processes_started_with("HONE_TEST_MARK=" + mark);
    ASSERT_TRUE(child->wait(10)) << "the child number " << started;
  }
}

TEST(StopSignal, FirstInterruptIsReadableForGood) {
  auto stop = StopSignal::install();
  ASSERT_TRUE(stop);
  EXPECT_FALSE(is_readable(stop->fd()));
  ::raise(SIGINT);
  EXPECT_TRUE(is_readable(stop->fd()));
  EXPECT_TRUE(is_readable(stop->fd()));
}

TEST(StopSignalDeathTest, SecondInterruptEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto stop = StopSignal::install();
        ::raise(SIGINT);
        ::raise(SIGTERM);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace hone
