#include <gmock/gmock.h>

#include "provider/triton/tune_gemm.h"

namespace hone::triton {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Values = std::map<std::string, std::int64_t>;

const Values kTuneGemms{{"BLOCK_SIZE_M", 128}, {"BLOCK_SIZE_N", 64}, {"BLOCK_SIZE_K", 32},
                        {"GROUP_SIZE_M", 8},   {"SPLIT_K", 4},       {"num_warps", 8},
                        {"num_stages", 2},     {"waves_per_eu", 0},  {"matrix_instr_nonkdim", 16},
                        {"kpack", 2}};

Gemm of_type(problem::ElementType c) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 4096;
  gemm.c = c;
  return gemm;
}

TEST(ConfigurationKeys, AreTuneGemmsTenAndThenHones) {
  const auto keys = configuration_keys();
  EXPECT_THAT(
      std::vector<std::string_view>(keys.begin(), keys.end()),
      ElementsAre("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K",
                  "num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
                  "STRUCTURE", "PER_UNIT", "SPLIT_STORE", "MORE_N", "SWAP", "FIXED"));
}

TEST(ConfigurationKeys, ALineOfTuneGemmMeansItsKernel) {
  auto knobs = knobs_of(of_type(problem::ElementType::kF16), kTuneGemms);
  ASSERT_TRUE(knobs) << knobs.error().message;
  EXPECT_EQ(*knobs, (Values{{"BLOCK_M", 128},
                            {"BLOCK_N", 64},
                            {"BLOCK_K", 32},
                            {"GROUP_M", 8},
                            {"SPLIT_K", 4},
                            {"num_warps", 8},
                            {"num_stages", 2},
                            {"waves_per_eu", 0},
                            {"matrix_instr_nonkdim", 16},
                            {"kpack", 2},
                            {"STRUCTURE", 2},  // two passes: f16 cannot be added to atomically
                            {"PER_UNIT", 1},
                            {"SPLIT_STORE", 0},
                            {"MORE_N", 0},
                            {"SWAP", 0},
                            {"FIXED", 1}}));
  EXPECT_EQ(knobs_of(of_type(problem::ElementType::kF32), kTuneGemms)->at("STRUCTURE"), 1);
  Values unsplit = kTuneGemms;
  unsplit["SPLIT_K"] = 1;
  EXPECT_EQ(knobs_of(of_type(problem::ElementType::kF32), unsplit)->at("STRUCTURE"), 0);
}

TEST(ConfigurationKeys, ALineIsTheKnobsThatItSays) {
  const Gemm gemm = of_type(problem::ElementType::kF16);
  const auto knobs = knobs_of(gemm, kTuneGemms);
  ASSERT_TRUE(knobs);
  EXPECT_EQ(keyed(gemm, *knobs), kTuneGemms);
}

TEST(ConfigurationKeys, AKernelThatTuneGemmDoesNotHaveTakesHonesKeys) {
  // A candidate of hone's own space for NVIDIA: it has none of AMD's knobs.
  const Values knobs{{"STRUCTURE", 4}, {"BLOCK_M", 128}, {"BLOCK_N", 256}, {"BLOCK_K", 64},
                     {"GROUP_M", 8},   {"SPLIT_K", 1},   {"PER_UNIT", 1},  {"SPLIT_STORE", 1},
                     {"num_warps", 8}, {"num_stages", 3}};
  const Gemm gemm = of_type(problem::ElementType::kF16);
  const Values line = keyed(gemm, knobs);
  EXPECT_EQ(line, (Values{{"BLOCK_SIZE_M", 128},
                          {"BLOCK_SIZE_N", 256},
                          {"BLOCK_SIZE_K", 64},
                          {"GROUP_SIZE_M", 8},
                          {"SPLIT_K", 1},
                          {"num_warps", 8},
                          {"num_stages", 3},
                          {"waves_per_eu", 0},
                          {"matrix_instr_nonkdim", 0},
                          {"kpack", 1},
                          {"STRUCTURE", 4},
                          {"SPLIT_STORE", 1},
                          {"FIXED", 0}}));
  const auto back = knobs_of(gemm, line);
  ASSERT_TRUE(back) << back.error().message;
  for (const auto& [name, value] : knobs) EXPECT_THAT(*back, testing::Contains(Pair(name, value)));
  EXPECT_EQ(keyed(gemm, *back), line);
}

TEST(ConfigurationKeys, NoKnobsAreNoKeys) {
  EXPECT_TRUE(keyed(of_type(problem::ElementType::kF16), {}).empty());
}

TEST(ConfigurationKeys, AKeyThatIsMissingIsNamed) {
  Values line = kTuneGemms;
  line.erase("BLOCK_SIZE_N");
  const auto knobs = knobs_of(of_type(problem::ElementType::kF16), line);
  ASSERT_FALSE(knobs);
  EXPECT_EQ(knobs.error().message, "BLOCK_SIZE_N is missing");
}

}  // namespace
}  // namespace hone::triton
