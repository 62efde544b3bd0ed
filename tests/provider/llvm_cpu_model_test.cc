#include <gmock/gmock.h>

#include <cmath>

#include "provider/iree/cpu/model.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"
#include "tests/provider/contractions.h"

namespace hone::iree {
namespace {

// Tiles (m, n, k) of a 512x512x512 f32 matmul; 48 KiB and 2 MiB of cache, 32 registers of 16 lanes.
CpuEstimate of_512(CpuTiles tiles, int cores = 1) {
  const problem::Operation root = matmul(512, 512, 512);
  return estimate(contraction_loops(root).value(), root, avx512(cores), tiles);
}

TEST(LlvmCpuModel, CountsAnUnblockedMatmul) {
  const CpuEstimate all = of_512({{64, 64, 1}, {64, 64, 512}, {8, 32, 4}});
  EXPECT_EQ(all.sums, 8 * 2);
  EXPECT_EQ(all.loads, 8 + 2);
  // 16 multiply-adds at two a cycle take longer than 10 loads at 1.5; a quarter of the loop's turn.
  EXPECT_EQ(all.step_cycles, 8.25);
  EXPECT_EQ(all.steps, 8 * 2 * 512);
  // B: 512 rows of 256 bytes, 2048 apart: the first-level cache keeps an eighth of itself, so that
  // each of 8 strips reads them again, the second-level one keeps 256 KiB and has them. A: a strip
  // of 16 KiB does not stay beside 64 KiB of B, so both register tiles of a row read it.
  EXPECT_EQ(all.l2_bytes, 131072 * 8 + 131072 * 2);
  EXPECT_EQ(all.l3_bytes, 131072 + 131072);
  // 256 pages are more than 72: every other step waits for one, seven cycles, of which 0.3 show.
  EXPECT_DOUBLE_EQ(all.page_cycles, 8192 * 0.3 * 0.5 * 7);
  EXPECT_EQ(all.block_cycles, 16 * (20 + 16));
  EXPECT_EQ(all.workgroups, 64);
  EXPECT_EQ(all.rounds, 64);
  const double together = std::sqrt(67584.0 * 67584 + 40960.0 * 40960 + 32768.0 * 32768);
  EXPECT_DOUBLE_EQ(all.cycles, 64 * (2000 + together + all.page_cycles + 576));
}

TEST(LlvmCpuModel, CountsSumsOfEachBlockOfK) {
  const CpuEstimate all = of_512({{128, 512, 1}, {128, 512, 128}, {8, 32, 4}});
  // 16 x 16 register tiles, four blocks of k; sums go out and in again.
  EXPECT_EQ(all.block_cycles, 256 * 4 * (20 + 2 * 16));
  // B's block is 256 KiB, read by 16 strips; A's strip of 4 KiB stays beside a panel of 16 KiB; C,
  // 256 KiB, out four times and in three times.
  EXPECT_EQ(all.l2_bytes, 1048576 * 16 + 262144 + 262144 * 7);
  EXPECT_EQ(all.page_cycles, 0);  // 64 pages
}

TEST(LlvmCpuModel, SpillsBeyondTheRegisters) {
  // 16 x 2 sums, two of a row and a broadcast: three too many, each stored and loaded again. 18
  // loads and these at 1.5 a cycle are exactly the 16 cycles of 32 multiply-adds.
  EXPECT_EQ(of_512({{64, 64, 1}, {64, 64, 512}, {16, 32, 1}}).step_cycles, 16 + 1);
  // 16 x 4: 37 too many; (20 + 74) / 1.5 cycles for 64 multiply-adds, of which 64 are not too much
  // code.
  EXPECT_DOUBLE_EQ(of_512({{64, 64, 1}, {64, 64, 512}, {16, 64, 1}}).step_cycles, 94 / 1.5 + 1);
}

TEST(LlvmCpuModel, WaitsForTheLatencyOfFewSums) {
  EXPECT_EQ(of_512({{64, 64, 1}, {64, 64, 512}, {1, 16, 1}}).step_cycles, 4 + 1);
}

TEST(LlvmCpuModel, CountsTheRoundsOfTheBusiestThread) {
  EXPECT_EQ(of_512({{64, 64, 1}, {64, 64, 512}, {8, 32, 4}}, 3).rounds, 22);  // 64 on 3 threads
}

TEST(LlvmCpuModel, ChargesRemainders) {
  const double whole = of_512({{64, 64, 1}, {64, 64, 512}, {8, 32, 4}}).cycles;
  const double masked = of_512({{64, 64, 1}, {64, 64, 512}, {7, 32, 4}}).cycles;
  const double peeled = of_512({{64, 64, 1}, {64, 64, 512}, {7, 32, 4}, true}).cycles;
  EXPECT_GT(masked, 2 * whole);
  EXPECT_LT(peeled, masked / 2);
  EXPECT_GT(peeled, whole);
}

TEST(LlvmCpuModel, OrdersConfigurationsOfASpace) {
  const problem::Operation root = matmul(512, 512, 512);
  const space::Space space = llvm_cpu_contraction_space(root, avx512(1)).value();
  const auto prior = llvm_cpu_prior(root, avx512(1), space);
  ASSERT_TRUE(prior);
  const auto of = [&](const std::string& text) {
    return prior(space::parse_configuration(space, text).value());
  };
  EXPECT_DOUBLE_EQ(of("dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,red_k=4,"
                      "peel=0"),
                   of_512({{64, 64, 1}, {64, 64, 512}, {8, 32, 4}}).cycles);
}

// 2048 columns of f32: each row begins in the same sets of 12 ways.
TEST(LlvmCpuModel, ChargesRowsThatPushEachOtherOutOfTheCache) {
  const auto step = [](std::int64_t k, double rows) {
    const problem::Operation root = matmul(192, 64, k);
    const double depth = static_cast<double>(k);
    return estimate(contraction_loops(root).value(), root, avx512(1),
                    {{192, 64, 1}, {192, 64, depth}, {rows, 16, 4}, false})
        .step_cycles;
  };
  EXPECT_DOUBLE_EQ(step(2048, 16), step(2064, 16) * 16 / 12);
  EXPECT_DOUBLE_EQ(step(2048, 12), step(2064, 12));
}

TEST(LlvmCpuModel, PutsWhatIsInterchangedBeforeWhatIsNot) {
  const problem::Operation root = swapped_matmul(128, 64, 64);
  const space::Space space =
      llvm_cpu_contraction_space(root, avx512(1)).value().relax({"all"}).value();
  const auto prior = llvm_cpu_prior(root, avx512(1), space);
  const auto of = [&](std::string_view interchange) {
    return prior(space::parse_configuration(
                     space, fmt::format("dist_m=128,dist_n=64,cache_m=0,cache_n=0,cache_k=0,"
                                        "vec_m=32,vec_n=8,red_k=4,peel=0,interchange={}",
                                        interchange))
                     .value());
  };
  EXPECT_DOUBLE_EQ(of("0"), 8 * of("1"));
}

TEST(LlvmCpuModel, HasNoEstimateOfWhatIsNoContraction) {
  problem::Operation sum;
  sum.kind = problem::OperationKind::kReduction;
  space::SpaceBuilder builder;
  builder.knob("dist_m", "", {1, 2});
  EXPECT_FALSE(llvm_cpu_prior(sum, avx512(1), builder.build().value()));
}

TEST(LlvmCpuModel, HasNoEstimateWithoutItsKnobs) {
  space::SpaceBuilder builder;
  builder.knob("dist_m", "", {1, 2});
  EXPECT_FALSE(llvm_cpu_prior(matmul(8, 8, 8), avx512(1), builder.build().value()));
}

}  // namespace
}  // namespace hone::iree
