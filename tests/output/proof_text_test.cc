#include "output/proof_text.h"

#include <gtest/gtest.h>

namespace hone::output {
namespace {

// B takes `ratio` of A's time, between `low` and `high`.
measure::PairedComparison comparison(double ratio, double low, double high) {
  measure::PairedComparison comparison;
  comparison.ratio = ratio;
  comparison.interval = {.low = low, .high = high};
  comparison.verdict = high < 1 ? measure::Verdict::kFaster : measure::Verdict::kNoDifferent;
  return comparison;
}

tune::Claim claim(std::vector<measure::PairedComparison> at_sizes) {
  tune::Claim claim{.at_sizes = std::move(at_sizes)};
  claim.verdict = claim.at_sizes.front().verdict;
  return claim;
}

tune::TuningResult proved(tune::Recommended recommended, tune::Claim chosen,
                          std::optional<tune::Claim> spec = {},
                          std::optional<tune::Claim> flags = {}) {
  tune::TuningResult result;
  result.candidate = tune::VerifiedBuild{tune::Build{.label = "data tiling + spec"}};
  result.candidate->without_spec = tune::Build{.label = "data tiling"};
  result.verdict = tune::ProgramVerdict{.recommended = recommended,
                                        .chosen = std::move(chosen),
                                        .spec = std::move(spec),
                                        .flags = std::move(flags)};
  return result;
}

tune::VerifiedBuild repairing(const std::string& dispatch) {
  tune::VerifiedBuild build{tune::Build{.label = "spec"}};
  build.repairs = {dispatch};
  return build;
}

// Half as long is twice as fast; the speed-up lies between 1 / 0.625 and 1 / 0.4: 1.6 and 2.5, half
// of whose distance is 0.45. 0.8 is 1.25 times as fast, between 1 / 1 and 1 / 0.625: 0.3.
TEST(ClosingSummary, SaysHowManyTimesFasterAsHyperfineDoes) {
  const auto result = proved(tune::Recommended::kChosen, claim({comparison(0.5, 0.4, 0.625)}),
                             claim({comparison(0.8, 0.625, 0.9999999)}));
  EXPECT_EQ(closing_summary(result, "out/compile_flags.txt"),
            "With out/compile_flags.txt the program ran\n"
            "    1.25 ± 0.30 times faster than with data tiling alone\n"
            "    2.00 ± 0.45 times faster than with the compiler's defaults\n");
}

TEST(ClosingSummary, ClaimsOfTheFlagsWhatTheFlagsGain) {
  const auto result =
      proved(tune::Recommended::kFlags, claim({comparison(0.5, 0.4, 0.625)}),
             claim({comparison(1.0, 0.9, 1.1)}), claim({comparison(0.4, 0.32, 0.5)}));
  // 1 / 0.4 = 2.5, between 2 and 3.125.
  EXPECT_EQ(closing_summary(result, "flags.txt"),
            "With flags.txt the program ran\n"
            "    2.50 ± 0.56 times faster than with the compiler's defaults\n");
}

TEST(ClosingSummary, HasOneLineForFlagsWithoutASpec) {
  auto result = proved(tune::Recommended::kChosen, claim({comparison(0.5, 0.4, 0.625)}));
  result.candidate = tune::VerifiedBuild{tune::Build{.label = "data tiling"}};
  EXPECT_EQ(closing_summary(result, "flags.txt"),
            "With flags.txt the program ran\n"
            "    2.00 ± 0.45 times faster than with the compiler's defaults\n");
}

TEST(ClosingSummary, ClaimsNothingThatIsNotProved) {
  const auto result = proved(tune::Recommended::kDefault, claim({comparison(0.9, 0.8, 1.1)}));
  EXPECT_EQ(closing_summary(result, "flags.txt"), "");
  EXPECT_EQ(closing_summary(tune::TuningResult{}, "flags.txt"), "");
}

TEST(ClosingSummary, HasALineForEachSize) {
  auto result = proved(tune::Recommended::kChosen,
                       claim({comparison(0.5, 0.4, 0.625), comparison(0.8, 0.625, 0.9999999)}));
  for (const int size : {8, 192}) {
    tune::ProgramTuningResult session;
    session.sizes = *problem::given_sizes({fmt::format("M={}", size)});
    result.at_sizes.push_back(std::move(session));
  }
  EXPECT_EQ(closing_summary(result, "flags.txt"),
            "With flags.txt the program ran\n"
            "    2.00 ± 0.45 times faster than with the compiler's defaults at M=8\n"
            "    1.25 ± 0.30 times faster than with the compiler's defaults at M=192\n");
}

// A shell takes "$async_dispatch_5" for a variable.
TEST(WrongByDefaultText, NamesThemAndACommandThatAShellTakes) {
  tune::TuningResult result;
  EXPECT_EQ(wrong_by_default_text(result, "net.mlir"), "");
  result.wrong_by_default = {"net$async_dispatch_5_conv", "net$async_dispatch_9_matmul"};
  EXPECT_EQ(
      wrong_by_default_text(result, "my net.mlir"),
      "WRONG BY DEFAULT: the compiler's code of net$async_dispatch_5_conv, "
      "net$async_dispatch_9_matmul is wrong, and so is the program, with and without hone's "
      "kernels: hone verify 'my net.mlir' --dispatch 'net$async_dispatch_5_conv'\n");
}

TEST(WrongByDefaultText, TellsWhatIsRepairedFromWhatIsLeft) {
  tune::TuningResult result;
  result.wrong_by_default = {"conv", "matmul"};
  result.best = repairing("conv");
  EXPECT_EQ(wrong_by_default_text(result, "net.mlir"),
            "REPAIRED: the compiler's code of conv is wrong, the shipped kernels are correct, and "
            "results change: hone verify net.mlir --dispatch conv\n"
            "WRONG BY DEFAULT: the compiler's code of matmul is wrong, and so is the program, with "
            "and without hone's kernels: hone verify net.mlir --dispatch matmul\n");
}

TEST(WrongByDefaultText, SaysWhereTheWholeIsStillFarFromWhatTheHostComputes) {
  tune::TuningResult result;
  result.wrong_by_default = {"conv"};
  result.best = repairing("conv");
  const auto text_at = [&](double error) {
    result.best->repaired_error = error;
    return wrong_by_default_text(result, "net.mlir");
  };
  EXPECT_THAT(text_at(0.004), testing::Not(testing::HasSubstr("STILL WRONG")));
  EXPECT_THAT(text_at(INFINITY), testing::HasSubstr("STILL WRONG"));
  EXPECT_THAT(text_at(0.498),
              testing::HasSubstr("STILL WRONG: the repaired program's results differ by 0.5 of "
                                 "their size (root mean square)"));
}

}  // namespace
}  // namespace hone::output
