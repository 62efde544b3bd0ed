// Recorded tunings, replayed without a compiler, a device or a process: the tuner asks for the same
// jobs in the same order and comes to the same end. README.md says how to record anew.
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/tune_fake/recorded_tunings.h"

namespace hone::test {
namespace {

// The hone whose compile workers and runners are recorded, instead of a replay.
constexpr const char* kRecord = "HONE_RECORD";
// Set: jobs that differ are accepted, and take the place of the recorded ones.
constexpr const char* kAccept = "HONE_ACCEPT";

class Replay : public testing::TestWithParam<RecordedTuning> {};
INSTANTIATE_TEST_SUITE_P(Recorded, Replay,
                         testing::Values(RecordedTuning{"cpu", tune_on_a_cpu},
                                         RecordedTuning{"gpu", tune_on_a_gpu},
                                         RecordedTuning{"triton", tune_gemms}),
                         [](const auto& tuning) { return tuning.param.name; });

TEST_P(Replay, AsksForTheRecordedJobs) {
  const RecordedTuning& tuning = GetParam();
  const std::filesystem::path file =
      HONE_SOURCE_DIR "/tests/tune_fake/recordings/" + tuning.name + ".jsonl.zst";
  const Places places{recorded_program().string()};
  const TemporaryFolder folder = std::move(TemporaryFolder::create("hone-replay-").value());
  if (const char* const hone = std::getenv(kRecord); hone != nullptr) {
    Tape tape = Tape::record(places);
    const auto result = tuning.run(tape, folder.path(), hone);
    ASSERT_TRUE(result) << result.error().message;
    tape.set_result(normal_answer(*result, places));
    ASSERT_TRUE(tape.save(file));
    GTEST_SKIP() << "recorded";
  }
  const bool accepts = std::getenv(kAccept) != nullptr;
  auto tape = Tape::load(file, places, accepts);
  ASSERT_TRUE(tape) << file << ": " << tape.error().message;
  const auto result = tuning.run(*tape, folder.path(), "");
  ASSERT_EQ(tape->problem(), "") << "README.md beside this test says what to do";
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(tape->left(), "");
  const nlohmann::json came_to = normal_answer(*result, places);
  EXPECT_EQ(differences(tape->result(), came_to), "");
  if (!accepts || tape->accepted().empty()) return;
  tape->set_result(came_to);
  ASSERT_TRUE(tape->save(file));
  GTEST_SKIP() << "accepted, to be looked at:\n" << tape->accepted();
}

}  // namespace
}  // namespace hone::test
