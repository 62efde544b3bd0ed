#include "provider/iree/spec/tuning_spec.h"

#include <gmock/gmock.h>

#include "tests/provider/contractions.h"

namespace hone::iree {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TuningSpecEntry entry(const problem::Operation& root, const std::string& name) {
  return {root,
          "#iree_cpu.lowering_config<distribution = [64, 64, 0]>",
          "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>",
          "",
          "",
          name};
}

TEST(TuningSpec, MatchesByTypesMapsAndExtents) {
  const std::string text =
      tuning_spec_text({entry(matmul(128, 3072, 768, problem::ElementType::kF16), "ffn")}).value();
  EXPECT_THAT(text, HasSubstr("lhs_type = f16, rhs_type = f16, output_type = f32"));
  EXPECT_THAT(text, HasSubstr("affine_map<(d0, d1, d2) -> (d2, d1)>"));
  EXPECT_THAT(text, HasSubstr("dims_equal %batch, []"));
  EXPECT_THAT(text, HasSubstr("dims_equal %m, [128]"));
  EXPECT_THAT(text, HasSubstr("dims_equal %n, [3072]"));
  EXPECT_THAT(text, HasSubstr("dims_equal %k, [768]"));
  EXPECT_THAT(text, HasSubstr("@match_0_ffn -> @apply_0_ffn"));
  EXPECT_THAT(text, Not(HasSubstr("linalg.fill")));
}

TEST(TuningSpec, ConfiguresWhatTheRootAccumulatesInto) {
  TuningSpecEntry blocked = entry(matmul(512, 512, 512), "blocked");
  blocked.init_config = "#iree_cpu.lowering_config<vector_reduction = [8, 32]>";
  const std::string text = tuning_spec_text({blocked}).value();
  EXPECT_THAT(text, HasSubstr("transform.match.operation_name %init [\"linalg.fill\"]"));
  EXPECT_THAT(text, HasSubstr(blocked.init_config));
}

TEST(TuningSpec, BeginsWithTheHeaderAndIsTheSameEachTime) {
  const std::vector<TuningSpecEntry> entries = {entry(matmul(64, 64, 64), "a-b.c"),
                                                entry(batch_matmul(2, 64, 64, 64), "")};
  const std::string text = tuning_spec_text(entries, "first\nsecond").value();
  EXPECT_THAT(text, StartsWith("// first\n// second\nmodule attributes {"));
  EXPECT_THAT(text, HasSubstr("@match_0_a_b_c -> @apply_0_a_b_c,"));
  EXPECT_THAT(text, HasSubstr("@match_1 -> @apply_1"));
  EXPECT_THAT(text, HasSubstr("dims_equal %batch, [2]"));
  EXPECT_EQ(text, tuning_spec_text(entries, "first\nsecond").value());
}

// One spec serves all sizes of what a program leaves open: its text must not say which was looked
// at, or the rounds of two sizes would be taken for those of two specs, and none could be
// recommended.
TEST(TuningSpec, IsTheSameForEverySizeThatWasGiven) {
  const auto given = [](std::int64_t m) {
    problem::Operation root = matmul(m, 256, 256);
    root.loops[0].open = true;
    return root;
  };
  EXPECT_EQ(tuning_spec_text({entry(given(8), "open")}).value(),
            tuning_spec_text({entry(given(192), "open")}).value());
  EXPECT_NE(tuning_spec_text({entry(matmul(8, 256, 256), "fixed")}).value(),
            tuning_spec_text({entry(matmul(192, 256, 256), "fixed")}).value());
}

TEST(TuningSpec, SeesTheRootOperationOnly) {
  problem::Operation generic = matmul(64, 64, 64);
  generic.name = "linalg.generic";
  EXPECT_TRUE(same_spec_class(matmul(64, 64, 64), generic));
  EXPECT_FALSE(same_spec_class(matmul(64, 64, 64), matmul(64, 64, 32)));
  EXPECT_FALSE(same_spec_class(matmul(64, 64, 64), matmul(64, 64, 64, problem::ElementType::kF16)));
  problem::Operation transposed = matmul(64, 64, 64);
  transposed.operands[1].loops = {1, 2};
  EXPECT_FALSE(same_spec_class(matmul(64, 64, 64), transposed));
}

TEST(TuningSpec, RefusesWhatItCannotExpress) {
  const auto error = [](const std::vector<TuningSpecEntry>& entries) {
    const auto text = tuning_spec_text(entries);
    return text ? std::string() : text.error().message;
  };
  EXPECT_THAT(error({}), HasSubstr("at least one entry"));
  EXPECT_THAT(error({entry(matmul(64, 64, 64), "one"), entry(matmul(64, 64, 64), "two")}),
              testing::AllOf(HasSubstr("'one'"), HasSubstr("'two'")));
  EXPECT_THAT(error({entry(matmul(problem::kDynamic, 64, 64), "dynamic")}),
              HasSubstr("only at run time"));
  TuningSpecEntry unconfigured = entry(matmul(64, 64, 64), "nothing");
  unconfigured.lowering_config.clear();
  EXPECT_THAT(error({unconfigured}), HasSubstr("has no configuration"));
}

}  // namespace
}  // namespace hone::iree
