#include "output/tuning_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace hone::output {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Le;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::size_t> widths_of(const std::string& text) {
  std::vector<std::size_t> widths;
  for (const std::string& line : lines_of(text)) widths.push_back(width_of(line));
  return widths;
}

measure::PairedComparison twice_as_fast() {
  measure::PairedComparison comparison;
  comparison.verdict = measure::Verdict::kFaster;
  comparison.ratio = 0.5;
  comparison.interval = {.low = 0.4, .high = 0.625};
  return comparison;
}

// A program whose 70 dispatches are tuned, 40 more skipped for eight reasons, and proved twice as
// fast by four rounds.
struct LargeModel {
  LargeModel() {
    tune::Build build{.label = "data tiling + spec"};
    build.flags = {"--iree-opt-data-tiling"};
    build.spec = "module {}";
    result.best = result.candidate = tune::VerifiedBuild{{std::move(build)}};
    result.candidate->without_spec = tune::Build{.label = "data tiling"};
    result.verdict.emplace();
    result.verdict->recommended = tune::Recommended::kChosen;
    result.verdict->chosen.at_sizes = {twice_as_fast()};
    result.verdict->chosen.verdict = measure::Verdict::kFaster;
    result.rounds = {{.base = {0.040, 0.042, 0.038, 0.040},
                      .flags = {0.030, 0.030, 0.030, 0.030},
                      .chosen = {0.020, 0.021, 0.019, 0.020}}};
    result.candidate->differences.resize(5);
    result.candidate->differences[0].elements = 98304;
    result.spec = "module {}";
    result.proof_script = "out/run.sh";
    result.outcome = {tune::RunOutcome::kFaster, ""};
    result.at_sizes.emplace_back();
    for (int i = 0; i < 40; ++i)
      result.at_sizes.back().not_tuned.push_back(
          {fmt::format("main_dispatch_{}", 70 + i),
           fmt::format("reason {}", std::string(1, static_cast<char>('a' + i % 8))),
           0.001 * (i % 8)});
    for (int i = 0; i < 70; ++i)
      tuned.add({{fmt::format("main_async_dispatch_{}_convolution_1x128x56x56x64x3x3_f32", i), ""},
                 {1.4, "1.4 %"},
                 {0.001, "1 ms"},
                 {0.0005, "500 us"},
                 {2, "2.00x [1.90, 2.10]"},
                 {i, ""}});
  }
  TuningSummary summary() const {
    return {result, "net.mlir", false, "iree-compile net.mlir @out/compile_flags.txt -o net.vmfb",
            "out",  tuned,      time};
  }

  tune::TuningResult result;
  Table tuned{{{"dispatch", "dispatch"},
               {"share", "share", Align::kRight},
               {"default", "default", Align::kRight},
               {"tuned", "tuned", Align::kRight},
               {"speedup", "speedup [95 %]", Align::kRight},
               {"winner", "id", Align::kRight}}};
  std::vector<trial::TimeRow> time{{trial::kSessionTime, "measure", 70, 25},
                                   {trial::kSessionTime, "program", 1, 18},
                                   {trial::kCompilingTime, "translate", 900, 300}};
};

TEST(TuningSummary, BeginsWithTheVerdictAndSaysHowToUseIt) {
  const std::string text = tuning_summary(LargeModel().summary());
  EXPECT_THAT(text, StartsWith("With out/compile_flags.txt the program ran\n"
                               "    2.00 ± 0.45 times faster than with the compiler's defaults\n"));
  EXPECT_THAT(text, HasSubstr("use it:   iree-compile net.mlir @out/compile_flags.txt -o net.vmfb\n"
                              "check it: sh out/run.sh\n"
                              "written:  out/tuning_spec.mlir, out/report.html\n"));
  EXPECT_THAT(text, HasSubstr("time:     43 s: measure 25 s, program 18 s, rest 0 ns\n"));
}

// 38, 40, 40 and 42 ms: mean 40 ms, deviation sqrt(8 / 3) = 1.63 ms, 4.1 %.
TEST(TuningSummary, HasTheStatisticsOfTheProof) {
  EXPECT_THAT(tuning_summary(LargeModel().summary()),
              HasSubstr("proof: one call     n  median   mean  std dev     cv\n"
                        "default             4   40 ms  40 ms  1.63 ms  4.1 %\n"));
}

TEST(TuningSummary, TakesFortyLinesOfEachWidth) {
  const LargeModel model;
  for (const std::size_t width : {std::size_t{40}, std::size_t{80}, kSummaryWidth}) {
    const std::string text = tuning_summary(model.summary(), width);
    EXPECT_LE(lines_of(text).size(), kMostLines) << text;
    EXPECT_THAT(widths_of(text), Each(Le(width))) << text;
  }
}

TEST(TuningSummary, GroupsWhatIsSkippedByReason) {
  // Reason h has five dispatches of 0.7 %; four reasons are listed, and e with its 0.4 % is last.
  const std::string text = tuning_summary(LargeModel().summary());
  EXPECT_THAT(text, HasSubstr("skipped:  5 dispatches (3.5 % of the time): reason h\n"));
  EXPECT_THAT(text, HasSubstr("skipped:  20 more, 4 other reasons (--verbose)\n"));
}

TEST(TuningSummary, AWrongDefaultComesFirst) {
  LargeModel model;
  model.result.wrong_by_default = {"main_dispatch_3"};
  model.result.outcome = {tune::RunOutcome::kNotProved, "the compiler's code is wrong"};
  EXPECT_THAT(tuning_summary(model.summary()),
              StartsWith("WRONG BY DEFAULT: the compiler's code of main_dispatch_3 is wrong"));
}

TEST(TuningSummary, OfNothingFasterOffersNoFlags) {
  tune::TuningResult result;
  result.best = tune::VerifiedBuild{{tune::Build{.label = "default"}}};
  result.outcome = {tune::RunOutcome::kNothingFaster, ""};
  EXPECT_EQ(tuning_summary({result, "net.mlir", false, "", "out",
                            Table(std::vector<Column>{{"dispatch", "dispatch"}})}),
            "Nothing faster was found: the default is the best of what was tried.\n\n"
            "written:  out/report.html\n\n");
}

TEST(TuningSummary, IsTextWhateverBytesANameHas) {
  LargeModel model;
  model.result.at_sizes.back().not_tuned = {{"main", "no root \xff operation"}};
  EXPECT_THAT(tuning_summary(model.summary()), HasSubstr("no root \xEF\xBF\xBD operation"));
}

TEST(ListSummary, OfThreeHundredResultsTakesFortyLines) {
  Table results({{"gemm", "gemm"},
                 {"time", "time"},
                 {"tflops", "TFLOP/s"},
                 {"speedup", "over default"},
                 {"checked", "checked"},
                 {"configuration", "configuration"}});
  for (int i = 0; i < 300; ++i)
    results.add({{fmt::format("2048x1280x{}", 64 * i), ""},
                 {1, "36.7 us"},
                 {1, "731.0"},
                 {1, "1.31x"},
                 {1, "exact"},
                 {1, "BLOCK_M=128,BLOCK_N=256,BLOCK_K=64,GROUP_M=8,num_warps=8,num_stages=4"}});
  const std::vector<tune::NotTuned> skipped{{"8x8x8", "smaller than any tile"}};
  for (const std::size_t width : {std::size_t{40}, std::size_t{80}, kSummaryWidth}) {
    const std::string text =
        list_summary({results, 299, "out/gemms.yaml", "out/report.html", skipped}, width);
    EXPECT_LE(lines_of(text).size(), kMostLines) << text;
    EXPECT_THAT(widths_of(text), Each(Le(width))) << text;
    EXPECT_THAT(text, StartsWith("299 of 300 beat their default\nresults:  out/gemms.yaml\n"));
    EXPECT_THAT(text, HasSubstr("275 more (--verbose)\n\nskipped:  1 dispatch"));
  }
}

TEST(SkippedText, IsEmptyWhereNothingIs) {
  EXPECT_EQ(skipped_text({}, 80), "");
}

}  // namespace
}  // namespace hone::output
