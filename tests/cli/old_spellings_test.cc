#include <gmock/gmock.h>

#include "cli/other_tools.h"

namespace hone::cli {
namespace {

using testing::ElementsAre;

TEST(OldSpellings, OfTuneGemmAreHones) {
  EXPECT_THAT(with_new_spellings({"tune", "--gemm_size_file", "a_b.yaml", "-col_a", "-dtype_a",
                                  "bf16", "--gpu_ids=0,2", "--o", "c_d.yaml"}),
              ElementsAre("tune", "--gemm-size-file", "a_b.yaml", "--col-a", "--dtype-a", "bf16",
                          "--gpu-ids=0,2", "--tuning-results-file", "c_d.yaml"));
}

TEST(OldSpellings, OfTheDispatchProfilerAreHones) {
  EXPECT_THAT(with_new_spellings({"compile", "--op-kind=matmul", "--num-cpu", "4"}),
              ElementsAre("compile", "--operation-kind=matmul", "--jobs", "4"));
  EXPECT_THAT(with_new_spellings({"profile", "--benchmark=false"}),
              ElementsAre("profile", "--profiling-enabled=false"));
  EXPECT_THAT(with_new_spellings({"tune", "--benchmark", "141.mlir"}),
              ElementsAre("tune", "--benchmark", "141.mlir"));
}

TEST(OldSpellings, OfOtherCommandsAndBehindADoubleDashStay) {
  EXPECT_THAT(with_new_spellings({"space", "-col_a"}), ElementsAre("space", "-col_a"));
  EXPECT_THAT(with_new_spellings({"tune", "--", "-col_a"}), ElementsAre("tune", "--", "-col_a"));
  EXPECT_THAT(with_new_spellings({}), ElementsAre());
}

}  // namespace
}  // namespace hone::cli
