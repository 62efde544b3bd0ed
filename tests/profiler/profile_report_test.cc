#include "profiler/profile_report.h"

#include <gtest/gtest.h>

#include "trial/records.h"

namespace hone::profiler {
namespace {

ProfileRow row() {
  ProfileRow row;
  row.operation = *parse_operation("matmul_3456x1024x2048_f16t_f16t_f16t");
  row.configuration = "tile_config_128x128_32x5_tensorcore_mmasync";
  row.provider = kCompilersProvider;
  row.verified = Verified::kSuccess;
  row.timing = trial::timing_of(std::vector<double>{61e-6, 62e-6, 64e-6});
  return row;
}

// The old tool's screen, but for the time, of which the GFLOPs follow: 2 x 3456 x 1024 x 2048
// operations in 62 us.
TEST(ProfileReport, TheScreenIsTheOldTools) {
  EXPECT_EQ(
      screen_block(row()),
      "---------------------------------------------------------------- \n"
      "Dispatch      : matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_128x128_32x5_tensorcore_"
      "mmasync\n"
      "Provider      : IREE Codegen\n"
      "OpKind        : OperationKind.Matmul\n"
      "Operation     : matmul_3456x1024x2048_f16t_f16t_f16t\n"
      "Configuration : tile_config_128x128_32x5_tensorcore_mmasync\n"
      "Arguments     : --batch_count=1 --m=3456 --n=1024 --k=2048 --lhs=f16t --rhs=f16t "
      "--result=f16t\n"
      "                --split_k_mode=N/A --split_k_slices=N/A\n"
      "Verification  : SUCCESS\n"
      "Runtime(ms)   : 0.062\n"
      "GFLOPs        : 233798.62\n");
}

TEST(ProfileReport, ARowOfTheTable) {
  output::Peaks peaks;
  peaks.f32 = 60e12;
  peaks.matrix = 800e12;
  peaks.bandwidth = 4e12;
  const auto table = profile_table(std::vector{row()}, {{"gpu", "h100"}}, peaks).to_json();
  const auto& cells = table.at(0);
  EXPECT_EQ(cells["gpu"], "h100");
  EXPECT_EQ(cells["bytes"], 2 * (3456 * 2048 + 2048 * 1024 + 3456 * 1024));
  EXPECT_EQ(cells["Tile config"], "128x128_32x5");
  EXPECT_EQ(cells["Core class"], "tensorcore");
  EXPECT_EQ(cells["Instruction class"], "mmasync");
  EXPECT_DOUBLE_EQ(cells["Runtime(ms)"].get<double>(), 0.062);
  EXPECT_EQ(cells["Samples"], 3);
  EXPECT_DOUBLE_EQ(cells["Min(ms)"].get<double>(), 0.061);
  // 14,495,514,624 operations at 800 TFLOP/s take 18.1 us; 25.4 MB at 4 TB/s 6.4 us.
  EXPECT_NEAR(cells["Roofline(%)"].get<double>(), 29.22, 0.01);
  EXPECT_NEAR(cells["GB/s"].get<double>(), 410.1, 0.5);
}

TEST(ProfileReport, AFailureIsACaseWithItsReason) {
  ProfileRow bad = row();
  bad.verified = Verified::kFailed;
  bad.message = "wrong: 3 < 4 & \"5\"\nmore";
  bad.timing.reset();
  ProfileRow library = row();
  library.provider = "cuBLASLt";
  const std::string xml = junit_text(std::vector{row(), bad, library});
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\" skipped=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure message=\"wrong: 3 &lt; 4 &amp; &quot;5&quot;\">"),
            std::string::npos);
  EXPECT_NE(screen_block(bad).find("Verification  : FAILED\nReason        : wrong: 3"),
            std::string::npos);
}

TEST(ProfileReport, TagsAreColumnsOfTheirOwn) {
  const auto tags = read_tags("gpu:h100,run=7");
  ASSERT_TRUE(tags);
  EXPECT_EQ(*tags, (Tags{{"gpu", "h100"}, {"run", "7"}}));
  EXPECT_FALSE(read_tags("Provider:x"));
  EXPECT_FALSE(read_tags("a:1,a:2"));
  EXPECT_FALSE(read_tags("a"));
}

}  // namespace
}  // namespace hone::profiler
