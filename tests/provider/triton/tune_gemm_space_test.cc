#include <gmock/gmock.h>

#include "provider/triton/tune_gemm.h"
#include "space/configuration.h"
#include "tests/provider/triton/gemms.h"

namespace hone::triton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Counted {
  std::int64_t m, n, k;
  std::uint64_t count;
};

class TuneGemm : public testing::TestWithParam<Counted> {};

// Counted by tune_gemm's own pruning code, fp16, 64 KiB of LDS.
TEST_P(TuneGemm, HasAsManyConfigurationsAsItsOwnPruningLeaves) {
  const auto [m, n, k, count] = GetParam();
  const auto space = tune_gemm_space(gemm(m, n, k), {});
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_TRUE(space->count().exact);
  EXPECT_EQ(space->count().value, count);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TuneGemm,
    testing::Values(Counted{512, 512, 512, 5112}, Counted{4096, 4096, 4096, 648},
                    Counted{2048, 1280, 5120, 7024}, Counted{2048, 10240, 1280, 584},
                    Counted{17, 5120, 5120, 2304}, Counted{16, 4096, 4096, 880}));

std::uint64_t raw(const space::Space& space) {
  std::uint64_t product = 1;
  for (const space::Knob& knob : space.knobs()) product *= knob.values.size();
  return product;
}

TEST(TuneGemmSpace, Has132000RawConfigurations) {
  EXPECT_EQ(raw(*tune_gemm_space(gemm(512, 512, 512), {})), 132'000u);
}

// The names of the constraints that `text` breaks.
std::vector<std::string> broken(const Result<space::Space>& space, const std::string& text) {
  std::vector<std::string> names;
  const auto configuration = space::parse_configuration(*space, text);
  EXPECT_TRUE(configuration) << configuration.error().message;
  if (!configuration) return names;
  for (const space::Violation& violation : space->check(*configuration))
    names.push_back(violation.constraint);
  return names;
}

std::string text(std::string_view blocks, int split_k, int warps, int group_m, int nonkdim) {
  return fmt::format(
      "{},SPLIT_K={},num_warps={},GROUP_M={},num_stages=2,waves_per_eu=0,matrix_instr_nonkdim={},"
      "kpack=1",
      blocks, split_k, warps, group_m, nonkdim);
}

TEST(TuneGemmSpace, NamesEachRuleThatAConfigurationBreaks) {
  const auto thin = tune_gemm_space(gemm(16, 4096, 4096), {});
  EXPECT_THAT(broken(thin, text("BLOCK_M=16,BLOCK_N=64,BLOCK_K=64", 4, 4, 1, 16)), ElementsAre());
  EXPECT_THAT(broken(thin, text("BLOCK_M=32,BLOCK_N=64,BLOCK_K=64", 1, 4, 1, 16)),
              ElementsAre("small_m"));
  EXPECT_THAT(broken(thin, text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=64", 1, 4, 1, 32)),
              ElementsAre("mfma", "small_m", "waste_m"));
  // 6 x 64 does not divide 4096.
  EXPECT_THAT(broken(thin, text("BLOCK_M=16,BLOCK_N=64,BLOCK_K=64", 6, 4, 1, 16)),
              ElementsAre("split_k_divides"));

  const auto middle = tune_gemm_space(gemm(512, 512, 512), {});
  EXPECT_THAT(broken(middle, text("BLOCK_M=16,BLOCK_N=64,BLOCK_K=64", 1, 4, 1, 32)),
              ElementsAre("tile_fills_instruction"));
  EXPECT_THAT(broken(middle, text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=64", 2, 4, 1, 32)),
              ElementsAre("split_k"));
  EXPECT_THAT(broken(middle, text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=64", 1, 4, 16, 32)),
              ElementsAre("group_m"));  // 16 x 64 rows of 512
  // (256 + 256) x 128 x 2 bytes are 128 KiB of 64.
  EXPECT_THAT(broken(middle, text("BLOCK_M=256,BLOCK_N=256,BLOCK_K=128", 1, 8, 1, 32)),
              ElementsAre("lds"));

  const auto large = tune_gemm_space(gemm(2048, 10240, 1280), {});
  EXPECT_THAT(broken(large, text("BLOCK_M=32,BLOCK_N=64,BLOCK_K=64", 1, 2, 1, 32)),
              ElementsAre("large_tiles", "large_warps"));
  EXPECT_THAT(broken(tune_gemm_space(gemm(2050, 2048, 64), {}),
                     text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=64", 1, 4, 1, 32)),
              ElementsAre("large_whole_tiles"));
}

TEST(TuneGemmSpace, SaysWhyInWordsAndNumbers) {
  const auto space = tune_gemm_space(gemm(512, 512, 512), {});
  const auto configuration =
      space::parse_configuration(*space, text("BLOCK_M=256,BLOCK_N=256,BLOCK_K=128", 1, 8, 1, 32));
  const auto violations = space->check(*configuration);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_THAT(violations[0].reason,
              HasSubstr("the tiles of A and B take 131072 bytes of LDS; a workgroup has 65536"));
}

TEST(TuneGemmSpace, FollowsTheTypesAndTheDevicesMemory) {
  Gemm bytes = gemm(512, 512, 512);
  const std::string tile = text("BLOCK_M=256,BLOCK_N=256,BLOCK_K=128", 1, 8, 1, 32);
  EXPECT_THAT(broken(tune_gemm_space(bytes, {.lds_bytes = 160 * 1024}), tile), ElementsAre());
  bytes.a = bytes.b = problem::ElementType::kF8E4M3;  // (256 + 256) x 128 bytes are 64 KiB
  EXPECT_THAT(broken(tune_gemm_space(bytes, {}), tile), ElementsAre());
}

TEST(TuneGemmSpace, ABatchIsNotSplit) {
  Gemm batch = gemm(16, 4096, 4096);
  batch.batch = 2;
  EXPECT_THAT(
      broken(tune_gemm_space(batch, {}), text("BLOCK_M=16,BLOCK_N=64,BLOCK_K=64", 4, 4, 1, 16)),
      ElementsAre("batch"));
}

class TuneGemmV2 : public testing::TestWithParam<Counted> {};

// Counted by nested loops over the rules of its documentation.
TEST_P(TuneGemmV2, HasAsManyConfigurationsAsNestedLoopsFind) {
  const auto [m, n, k, count] = GetParam();
  const auto space = tune_gemm_v2_space(gemm(m, n, k));
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->count().value, count);
  EXPECT_EQ(raw(*space), 14'080u);  // "~15000 configs"
}

INSTANTIATE_TEST_SUITE_P(Sizes, TuneGemmV2,
                         testing::Values(Counted{512, 512, 512, 380},
                                         Counted{4096, 4096, 4096, 620},
                                         Counted{2048, 1280, 5120, 584},
                                         Counted{17, 5120, 5120, 1560},
                                         Counted{16, 4096, 4096, 300}));

TEST(TuneGemmV2Space, RefusesADeepBlockBesideAWideOne) {
  const auto space = tune_gemm_v2_space(gemm(512, 512, 512));
  EXPECT_THAT(broken(space, text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=128", 1, 4, 1, 32)), ElementsAre());
  EXPECT_THAT(broken(space, text("BLOCK_M=64,BLOCK_N=128,BLOCK_K=128", 1, 4, 1, 32)),
              ElementsAre("deep_blocks"));
  EXPECT_THAT(broken(tune_gemm_v2_space(gemm(512, 512, 96)),
                     text("BLOCK_M=64,BLOCK_N=64,BLOCK_K=64", 1, 4, 1, 32)),
              ElementsAre("split_k_divides"));
}

}  // namespace
}  // namespace hone::triton
