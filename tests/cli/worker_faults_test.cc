// Processes of a real session die, hang or are stopped: the session goes on, and what was lost is
// done again or recorded as failed.
#include <set>

#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

class WorkerFaults : public RunningTune {
 protected:
  // A process below a prepared server, the compile of one candidate; -1 when there is none now, or
  // it is the default's: without that nothing can be tuned.
  pid_t a_compiling_child() const {
    pid_t child = -1;
    if (rows().empty()) return child;
    for (const pid_t zygote : workers("compile"))
      for (const pid_t server : children_of(zygote))
        for (const pid_t candidate : children_of(server))
          if (child < 0) child = candidate;
    return child;
  }
  // Sends `signal` to compiles until one has not ended before it came.
  void strike_a_compile(int signal) const {
    const auto before = count("failed");
    ASSERT_TRUE(holds_soon([&] {
      const pid_t child = a_compiling_child();
      if (!strike(child, SIGSTOP)) return false;
      strike(child, signal);
      strike(child, SIGCONT);
      return holds_soon([&] { return count("failed") > before; }, 1);
    }));
  }
  // SIGSEGV to every child of the compile tree's root, while `now` holds, until the session ends.
  void strike_children_of_the_zygote(const std::function<bool()>& now) {
    ASSERT_TRUE(holds_soon([&] {
      if (now())
        for (const pid_t zygote : workers("compile"))
          for (const pid_t child : children_of(zygote)) strike(child, SIGSEGV);
      return has_ended();
    }));
  }
  // A prepared server has its folder from its start on.
  bool is_preparing() const {
    std::error_code code;
    for (const auto& session : std::filesystem::directory_iterator(temporary(), code))
      for (const auto& each : std::filesystem::directory_iterator(session, code))
        if (each.path().filename().string().starts_with("server-")) return true;
    return false;
  }
  nlohmann::json failures() const {
    nlohmann::json failed = nlohmann::json::array();
    for (const auto& row : rows())
      if (row["state"] == "failed") failed.push_back(row);
    return failed;
  }
};

TEST_F(WorkerFaults, AStoppedRunnerIsReplacedAfterItsTimeLimit) {
  start(arguments(kMany));
  wait_until_measured(1);
  const pid_t stopped = runner();
  ASSERT_TRUE(strike(stopped, SIGSTOP));
  EXPECT_LE(finish(), 1) << words();  // 1: nothing is faster than the default
  EXPECT_NE(::kill(stopped, 0), 0) << "the stopped runner is gone";
  EXPECT_EQ(result()["dispatches"][0]["tried"], kMany) << words();
  EXPECT_EQ(result()["not_tuned"].size(), 0u);
  expect_complete(kMany);
}

TEST_F(WorkerFaults, AKilledRunnerIsReplacedAndNoResultIsLost) {
  start(arguments(kMany));
  wait_until_measured(1);
  const nlohmann::json before = rows();
  ASSERT_TRUE(strike(runner(), SIGKILL));
  EXPECT_LE(finish(), 1) << words();
  expect_complete(kMany);
  const nlohmann::json after = rows();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i]["state"] == "measured") {
      EXPECT_EQ(after[i]["min_seconds"], before[i]["min_seconds"]) << "measured twice";
    }
  for (const auto& row : after) EXPECT_NE(row["failure_kind"], "kernel killed") << row.dump(2);
}

TEST_F(WorkerFaults, ACompilerThatCrashesCostsOneCandidate) {
  start(arguments(kMany));
  strike_a_compile(SIGSEGV);
  strike_a_compile(SIGFPE);
  EXPECT_LE(finish(), 1) << words();
  expect_complete(kMany);
  std::multiset<std::string> signals;
  for (const auto& failed : failures()) {
    EXPECT_EQ(failed["failure_kind"], "compile crash");
    const auto message = failed["failure_message"].get<std::string>();
    signals.insert(message.substr(0, message.find_first_of(" (:,")));
  }
  EXPECT_EQ(signals, (std::multiset<std::string>{"SIGFPE", "SIGSEGV"}));
}

TEST_F(WorkerFaults, ACompileKilledFromOutsideIsDoneOnceMore) {
  start(arguments(6));
  ASSERT_TRUE(holds_soon([&] {
    const pid_t child = a_compiling_child();
    return strike(child, SIGKILL);
  }));
  EXPECT_LE(finish(), 1) << words();
  expect_complete(6);
  EXPECT_EQ(failures().size(), 0u) << failures().dump(2);
}

// Twice: at first the machine may have been busy.
TEST_F(WorkerFaults, ACompileThatHangsTwiceIsATimeoutAndCostsOneCandidate) {
  std::vector<std::string> limited = arguments(kMany);
  limited.insert(limited.end(), {"--compile-timeout", "1"});
  start(limited);
  ASSERT_TRUE(holds_soon([&] {
    const pid_t child = a_compiling_child();
    strike(child, SIGSTOP);
    return count("failed") > 0;
  }));
  EXPECT_LE(finish(), 1) << words();
  const nlohmann::json failed = failures();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["failure_kind"], "compile timeout");
  EXPECT_EQ(failed[0]["failure_message"], "no end after 2 s");  // of the second try
}

// 1 MB is less than the process that was forked has already.
TEST_F(WorkerFaults, ACompilerThatEatsMemoryIsOneClearMessage) {
  std::vector<std::string> limited = arguments(4);
  limited.insert(limited.end(), {"--compile-memory", "0.001"});
  const Ran ran = hone(limited, environment());
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
  EXPECT_NE(ran.err.find("compile memory: more than 0.00 GiB of memory"), std::string::npos)
      << ran.err;
}

TEST_F(WorkerFaults, TheWholeCompileTreeMayDie) {
  start(arguments(kMany));
  wait_until_measured(1);
  for (const pid_t pid : workers("compile")) strike(pid, SIGKILL);
  EXPECT_LE(finish(), 1) << words();
  expect_complete(kMany);
}

// Reading the program runs in a child of its own.
TEST_F(WorkerFaults, ACrashOfTheFrontendIsOneClearMessage) {
  start(arguments(4));
  strike_children_of_the_zygote([] { return true; });
  EXPECT_EQ(finish(), 1) << words();
  EXPECT_EQ(words().find("hone: compile crash: SIGSEGV"), 0u) << words();
}

// What states the constraints and prepares a dispatch runs in a server of its own.
TEST_F(WorkerFaults, ACrashWhilePreparingLeavesTheDispatchUntunedAndSaysWhy) {
  start(arguments(4));
  strike_children_of_the_zygote([this] { return is_preparing(); });
  EXPECT_EQ(finish(), 1) << words();
  ASSERT_EQ(result()["not_tuned"].size(), 1u) << words();
  const auto reason = result()["not_tuned"][0]["reason"].get<std::string>();
  EXPECT_EQ(reason.find("compile crash: SIGSEGV"), 0u) << reason;
}

}  // namespace
}  // namespace hone::cli
