#include "tests/space/known_spaces.h"

#include <gtest/gtest.h>

namespace hone::space {
namespace {

// Counted by tune_gemm's own pruning code, fp16, 64 KiB of LDS.
struct PrunedCount {
  known::Matmul size;
  std::uint64_t count;
};

class TuneGemm : public testing::TestWithParam<PrunedCount> {};

TEST_P(TuneGemm, HasAsManyConfigurationsAsItsOwnPruningLeaves) {
  const auto space = known::tune_gemm(GetParam().size).build();
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_TRUE(space->count().exact);
  EXPECT_EQ(space->count().value, GetParam().count);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TuneGemm,
    testing::Values(PrunedCount{{512, 512, 512}, 5112}, PrunedCount{{4096, 4096, 4096}, 648},
                    PrunedCount{{2048, 1280, 5120}, 7024}, PrunedCount{{2048, 10240, 1280}, 584},
                    PrunedCount{{17, 5120, 5120}, 2304}, PrunedCount{{16, 4096, 4096}, 880}));

}  // namespace
}  // namespace hone::space
