// What the live status says of a session.
#include "output/status_line.h"

#include <gmock/gmock.h>

namespace hone::output {
namespace {

tune::Progress searching() {
  tune::Progress progress;
  progress.dispatch = "main_dispatch_0";
  progress.dispatch_count = 2;
  progress.stage = tune::Stage::kSearch;
  progress.step = "search";
  progress.tried = 120;
  progress.planned = 480;
  progress.failed = 12;
  progress.best_speedup = 1.43;
  progress.seconds_left = 40.4;
  return progress;
}

TEST(StatusLine, SaysWhatIsDoneAndHowLongItTakesStill) {
  EXPECT_EQ(describe(searching(), 200),
            "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left");
  EXPECT_EQ(describe(searching(), 200, "the proof"),
            "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left, then the "
            "proof");
  EXPECT_EQ(describe(searching(), 12), "[1/2] main_…");
}

TEST(StatusLine, TimeLeftIsRoundedAndNeverNegative) {
  EXPECT_EQ(describe_time_left(59.4), "59 s left");
  EXPECT_EQ(describe_time_left(61), "1 min left");
  EXPECT_EQ(describe_time_left(290), "5 min left");
  EXPECT_EQ(describe_time_left(59.8 * 60), "1 h 0 min left");
  EXPECT_EQ(describe_time_left(4830), "1 h 21 min left");
  EXPECT_EQ(describe_time_left(0.9), "finishing");
  EXPECT_EQ(describe_time_left(0), "finishing");
  EXPECT_EQ(describe_time_left(-3), "finishing");
}

TEST(StatusLine, TheLastStepsAreSaidToBeFinishing) {
  tune::Progress progress = searching();
  progress.stage = tune::Stage::kFinalists;
  progress.step = "finalists";
  progress.seconds_left = 0;
  EXPECT_THAT(describe(progress, 200), testing::EndsWith(", finishing"));
  // A first round of the whole program tells nothing of the time yet.
  progress = {};
  progress.stage = tune::Stage::kProgramRounds;
  progress.step = "timing the whole program, round";
  progress.planned = 12;
  EXPECT_EQ(describe(progress, 200), "timing the whole program, round 1/12");
  progress.step = "checking the spec in the whole program";
  progress.planned = 0;
  EXPECT_EQ(describe(progress, 200), "checking the spec in the whole program");
}

TEST(StatusLine, QuietAndProgramsSeeNothingPlainHasLines) {
  // quiet, verbose, plain, json
  EXPECT_EQ(status_style(false, false, false, false).verbosity, Verbosity::kNormal);
  EXPECT_EQ(status_style(false, true, false, false).verbosity, Verbosity::kVerbose);
  EXPECT_EQ(status_style(true, true, true, false).verbosity, Verbosity::kQuiet);
  EXPECT_EQ(status_style(false, false, false, true).verbosity, Verbosity::kQuiet);
  EXPECT_EQ(status_style(false, false, true, true).verbosity, Verbosity::kNormal);
  EXPECT_EQ(status_style(false, true, false, true).verbosity, Verbosity::kVerbose);
  EXPECT_FALSE(status_style(false, true, false, false).plain);
  EXPECT_TRUE(status_style(false, false, true, false).plain);
}

TEST(StatusLine, PlainLinesHoldNoControlCharacters) {
  testing::internal::CaptureStderr();
  {
    StatusLine line({Verbosity::kVerbose, /*plain=*/true});
    line.progress(searching());
    line.note("a note");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left\na note\n");
}

// A log has a line every 10 seconds; each step has one with --plain only. Notes are for --verbose.
TEST(StatusLine, ALogHasWarningsAndFewSteps) {
  testing::internal::CaptureStderr();
  {
    StatusLine line({Verbosity::kNormal, /*plain=*/false});
    tune::Progress progress = searching();
    line.progress(progress);
    progress.step = "finalists";
    line.progress(progress);
    line.note("a note");
    line.warn("core 1 is busy");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left\n"
            "core 1 is busy\n");
}

}  // namespace
}  // namespace hone::output
