// Lists and ranges of shapes, and what stands for none.
#include "profiler/sweep.h"

#include <gmock/gmock.h>

namespace hone::profiler {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto values = read_extents("--problem-m", text);
  EXPECT_FALSE(values) << text;
  return values ? "" : values.error().message;
}

std::vector<std::string> names_of(const Sweep& sweep) {
  const auto operations = chosen_operations(sweep);
  EXPECT_TRUE(operations) << operations.error().message;
  std::vector<std::string> names;
  for (const NamedOperation& operation : operations.value_or(std::vector<NamedOperation>{}))
    names.push_back(operation.name());
  return names;
}

TEST(Extents, AreListsAndRangesWithoutTheirEnd) {
  EXPECT_THAT(read_extents("-m", "768").value(), ElementsAre(768));
  EXPECT_THAT(read_extents("-m", "64:1024:128").value(),
              ElementsAre(64, 192, 320, 448, 576, 704, 832, 960));
  EXPECT_THAT(read_extents("-m", "1,4:6,16:64:16").value(), ElementsAre(1, 4, 5, 16, 32, 48));
}

TEST(Extents, SayWhatIsWrong) {
  EXPECT_EQ(error_of("1024:64:128"),
            "--problem-m '1024:64:128': the range 1024:64:128 ends at 64, below its start 1024");
  EXPECT_THAT(error_of("64:128:0"), HasSubstr("the increment of 64:128:0 has to be 1 or more"));
  EXPECT_THAT(error_of("64:64:1"), HasSubstr("no number in the range 64:64:1"));
  EXPECT_THAT(error_of("64,,128"), HasSubstr("'' is no number"));
  EXPECT_THAT(error_of("1:2:3:4"), HasSubstr("'3:4' is no number"));
  EXPECT_THAT(error_of("12q"), HasSubstr("'12q' is no number"));
  EXPECT_THAT(error_of("99999999999999999999"), HasSubstr("is out of range"));
}

TEST(Sweep, IsTheProductOfItsLists) {
  Sweep sweep;
  sweep.extents = {{"m", {64, 192}}, {"k", {4096, 8}}};
  sweep.types = {{ElementType::kF16, ElementType::kF16, ElementType::kF16}};
  EXPECT_THAT(names_of(sweep),
              ElementsAre("matmul_64x256x4096_f16t_f16t_f16t", "matmul_64x256x8_f16t_f16t_f16t",
                          "matmul_192x256x4096_f16t_f16t_f16t", "matmul_192x256x8_f16t_f16t_f16t"));
}

TEST(Sweep, HasTheOldTypesOfAMatmul) {
  Sweep sweep;
  sweep.extents = {{"m", {768}}, {"n", {512}}, {"k", {1024}}};
  EXPECT_THAT(names_of(sweep), ElementsAre("matmul_768x512x1024_f16t_f16t_f16t",
                                           "matmul_768x512x1024_f32t_f32t_f32t",
                                           "matmul_768x512x1024_f16t_f16t_f32t"));
}

TEST(Sweep, MeansTheKindsThatHaveItsDimensions) {
  Sweep sweep;
  sweep.types = {{ElementType::kF32, ElementType::kF32, ElementType::kF32}};
  sweep.extents = {{"m", {8}}, {"batch", {3}}};
  EXPECT_THAT(names_of(sweep), ElementsAre("batch_matmul_3x8x256x256_f32t_f32t_f32t"));
  sweep.extents = {{"channels", {8}}, {"padding", {1}}};
  EXPECT_THAT(names_of(sweep),
              ElementsAre("conv2d_1x56x56x8_64x3x3_s1x1_d1x1_p1x1_g1_f32nhwc_f32hwcf_f32nhwc"));
}

TEST(Sweep, LeavesOutSlicesThatDoNotDivide) {
  Sweep sweep;
  sweep.kinds = {NamedOperationKind::kSplitKMatmul};
  sweep.types = {{ElementType::kF16, ElementType::kF16, ElementType::kF16}};
  // The old tool's shape and slices; 18 does not divide 12288.
  EXPECT_THAT(names_of(sweep),
              ElementsAre("matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel2",
                          "matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel4",
                          "matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel16"));
  sweep.extents = {{"k", {8}}, {"split_k_slices", {3}}};
  EXPECT_THAT(chosen_operations(sweep).error().message,
              HasSubstr("is 8, which 3 slices do not divide"));
}

TEST(Sweep, WithoutShapesHasTheOldOnes) {
  Sweep sweep;
  const std::vector<std::string> names = names_of(sweep);
  for (const std::string_view name :
       {"matmul_256x512x128_f16t_f16t_f16t", "matmul_2560x2560x2560_f32t_f32t_f32t",
        "matmul_3456x1024x2048_f16t_f16t_f32t", "batch_matmul_16x512x64x512_f16t_f16t_f16t"})
    EXPECT_THAT(names, testing::Contains(name));
  EXPECT_EQ(
      std::ranges::count_if(names, [](const auto& n) { return n.starts_with("matmul_splitk"); }),
      6);
  for (const NamedOperationKind kind : kOperationKinds)
    EXPECT_TRUE(std::ranges::any_of(names, [&](const auto& n) {
      return parse_operation(n).value().kind == kind;
    })) << name_of(kind);
}

TEST(Sweep, TakesOfSeveralKindsWhatEachCan) {
  Sweep sweep;
  sweep.types = {{ElementType::kI8, ElementType::kI8, ElementType::kI32}};
  const std::vector<std::string> names = names_of(sweep);
  EXPECT_THAT(names, testing::Contains(testing::StartsWith("matmul_bias_relu")));
  EXPECT_THAT(names, testing::Not(testing::Contains(testing::StartsWith("matmul_bias_gelu"))));
  sweep.kinds = {NamedOperationKind::kAttention};
  EXPECT_THAT(chosen_operations(sweep).error().message, HasSubstr("the result of attention"));
}

TEST(Sweep, RefusesWhatNoKindHas) {
  Sweep sweep;
  sweep.kinds = {NamedOperationKind::kMatmul};
  sweep.extents = {{"batch", {3}}};
  EXPECT_EQ(chosen_operations(sweep).error().message, "batch is no dimension of matmul");
  sweep.extents = {};
  sweep.layouts = {"tx"};
  EXPECT_THAT(chosen_operations(sweep).error().message, HasSubstr("'tx' is no layout"));
}

}  // namespace
}  // namespace hone::profiler
