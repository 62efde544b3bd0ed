// Ctrl-C, and being killed.
#include <set>

#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

class Interrupt : public RunningTune {
 protected:
  // The same command goes on: what was measured is not measured again.
  void expect_continues_from(const nlohmann::json& before) {
    start(arguments(kMany));
    EXPECT_LE(finish(), 1) << words();
    expect_complete(kMany);
    const nlohmann::json after = rows();
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i]["state"] == "measured") {
        EXPECT_EQ(after[i]["compile_seconds"], before[i]["compile_seconds"]) << "compiled twice";
        EXPECT_EQ(after[i]["identity"], before[i]["identity"]);
      }
  }
};

TEST_F(Interrupt, CtrlCStopsCleanlyKeepsAllAndSaysHowToContinue) {
  start(arguments(kMany));
  wait_until_measured(2);
  ASSERT_EQ(::kill(tune_pid(), SIGINT), 0);
  EXPECT_EQ(finish(), 130);
  EXPECT_EQ(words(),
            "hone: stopped; everything finished is in 'hone.db', and the same command continues "
            "from there\n");
  expect_whole_store();
  const nlohmann::json before = rows();
  EXPECT_GE(before.size(), 2u);
  expect_continues_from(before);
}

TEST_F(Interrupt, SigtermStopsAsCtrlCDoes) {
  start(arguments(kMany));
  wait_until_measured(2);
  ASSERT_EQ(::kill(tune_pid(), SIGTERM), 0);
  EXPECT_EQ(finish(), 130);
  expect_whole_store();
}

// The modules and inputs of a whole program are files of the tuner itself.
TEST_F(Interrupt, NoTemporaryFileIsLeftWhenTheTunerIsKilledWhileItProvesTheProgram) {
  std::vector<std::string> with_program = arguments(1);
  std::erase(with_program, "--no-program");
  start(with_program);
  ASSERT_TRUE(holds_soon([&] {
    std::error_code code;  // a folder may go while it is looked at
    for (std::filesystem::recursive_directory_iterator entry(temporary(), code), none;
         entry != none; entry.increment(code))
      if (entry->path().filename().string().starts_with("hone-program-")) return true;
    return has_ended();
  }));
  ASSERT_FALSE(has_ended()) << words();
  ASSERT_EQ(::kill(tune_pid(), SIGKILL), 0);
  EXPECT_TRUE(holds_soon([&] { return std::filesystem::is_empty(temporary()); }, 10));
}

// While the tuner waits for a runner that is stopped, only the second signal ends it at once.
TEST_F(Interrupt, ASecondCtrlCStopsAtOnceAndLosesNothing) {
  start(arguments(kMany));
  wait_until_measured(2);
  ASSERT_EQ(::kill(tune_pid(), SIGSTOP), 0);  // so that both come before it can act on the first
  ASSERT_EQ(::kill(tune_pid(), SIGINT), 0);
  ASSERT_EQ(::kill(tune_pid(), SIGTERM), 0);
  ASSERT_EQ(::kill(tune_pid(), SIGCONT), 0);
  EXPECT_EQ(finish(), 130);
  EXPECT_EQ(words(), "");
  expect_whole_store();
  const nlohmann::json before = rows();
  EXPECT_GE(before.size(), 2u);
  expect_continues_from(before);
}

TEST_F(Interrupt, CtrlCBeforeTheCompilerHasStartedIsTheSame) {
  start(arguments(kMany));
  ASSERT_TRUE(holds_soon([&] { return !workers("compile").empty(); }));
  ASSERT_EQ(::kill(tune_pid(), SIGINT), 0);
  EXPECT_EQ(finish(), 130);
}

TEST_F(Interrupt, NothingIsLeftOfASessionThatIsKilled) {
  start(arguments(kMany));
  wait_until_measured(2);
  ASSERT_EQ(::kill(tune_pid(), SIGKILL), 0);
  finish();
  expect_whole_store();
  EXPECT_GE(rows().size(), 2u);
}

// The names of the sets of flags that the store has a row of.
std::vector<std::string> flag_rows(const std::filesystem::path& file) {
  std::vector<std::string> names;
  auto store = store::Store::open(file, store::Mode::kReadOnly);
  if (!store) return names;
  const auto programs = store->programs();
  if (!programs) return names;
  for (const store::ProgramRow& program : *programs) {
    const auto rows = store->program_measurements(program.id);
    if (!rows) continue;
    for (const store::ProgramMeasurement& row : *rows)
      if (row.purpose == store::Purpose::kFlags) names.push_back(row.variant);
  }
  return names;
}

// Each set of flags that was tried has its row when the next ones begin.
TEST_F(Interrupt, WhatTheSearchOfFlagsHasTriedOutlivesAKill) {
  const std::filesystem::path file = folder() / "hone.db";
  start({"flags", write("small.mlir", matmul_program("64")), "--budget", "60s", "--threads", "1",
         "--jobs", "1"});
  ASSERT_TRUE(holds_soon([&] { return flag_rows(file).size() >= 3 || has_ended(); }));
  ASSERT_FALSE(has_ended()) << words();
  ASSERT_EQ(::kill(tune_pid(), SIGKILL), 0);
  finish();
  expect_whole_store();
  const std::vector<std::string> kept = flag_rows(file);
  EXPECT_GE(kept.size(), 3u);
  EXPECT_EQ(std::set<std::string>(kept.begin(), kept.end()).size(), kept.size());
}

}  // namespace
}  // namespace hone::cli
