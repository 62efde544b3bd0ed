// --dispatches: the old tool's examples, regular expressions, and what fits nothing.
#include <gmock/gmock.h>

#include "profiler/dispatch_choice.h"

namespace hone::profiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kF16 =
    "matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_128x128_32x5_tensorcore_mmasync";
constexpr std::string_view kMixed =
    "matmul_3456x1024x2048_f16t_f16t_f32t_tile_config_64x64_32x10_tensorcore_mmasync";
constexpr std::string_view kDefault =
    "batch_matmul_16x512x64x512_f16t_f16t_f16t_tile_config_default";

bool fits(std::string_view patterns, std::string_view name) {
  const auto filter = DispatchFilter::parse(patterns);
  EXPECT_TRUE(filter) << filter.error().message;
  return filter && filter->matches(name);
}

TEST(DispatchFilter, TakesTheOldToolsExamples) {
  EXPECT_TRUE(fits(kF16, kF16));
  EXPECT_FALSE(fits(kF16, kMixed));
  EXPECT_TRUE(fits("matmul_3456x1024x2048_f16t_f16t_f16t_*_tensorcore_mmasync", kF16));
  EXPECT_FALSE(fits("matmul_3456x1024x2048_f16t_f16t_f16t_*_tensorcore_mmasync", kMixed));
}

TEST(DispatchFilter, DoesNotAnchorPieces) {
  EXPECT_TRUE(fits("matmul", kDefault));
  EXPECT_TRUE(fits("16x512*default", kDefault));
  EXPECT_FALSE(fits("default*16x512", kDefault));
  EXPECT_FALSE(fits("f16t_f16t*f16t_f16t", kDefault));  // pieces do not overlap
}

TEST(DispatchFilter, MeansAnyOfItsPatterns) {
  const std::string both = "batch_matmul,*f32t_tile*";
  EXPECT_TRUE(fits(both, kDefault));
  EXPECT_TRUE(fits(both, kMixed));
  EXPECT_FALSE(fits(both, kF16));
  EXPECT_TRUE(fits("", kF16));
  EXPECT_TRUE(fits("all", kF16));
}

TEST(DispatchFilter, TakesRegularExpressions) {
  EXPECT_TRUE(fits("^matmul_.*mmasync$", kF16));
  EXPECT_FALSE(fits("^matmul_.*mmasync$", kDefault));
  EXPECT_TRUE(fits("_\\d{2,3}x\\d{2,3}_32x(5|10)_", kMixed));
  const auto filter = DispatchFilter::parse("x{2,3}y,[,]z,(a,b),plain");
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_THAT(filter->patterns(), ElementsAre("x{2,3}y", "[,]z", "(a,b)", "plain"));
}

TEST(DispatchFilter, RefusesBrokenPatterns) {
  EXPECT_THAT(DispatchFilter::parse("matmul_[").error().message,
              HasSubstr("'matmul_[' is no regular expression"));
  EXPECT_THAT(DispatchFilter::parse("a,,b").error().message, HasSubstr("has an empty pattern"));
}

TEST(DispatchFilter, NamesTheNearestOfWhatFitsNothing) {
  const std::vector<std::string> names = {std::string(kF16), std::string(kMixed),
                                          std::string(kDefault)};
  const auto filter = DispatchFilter::parse(
      "batch_matmul,matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_128x256*");
  ASSERT_TRUE(filter);
  const Status checked = filter->check_all_match(names);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::kInput);
  EXPECT_THAT(checked.error().message,
              HasSubstr("no dispatch of 3 matches 'matmul_3456x1024x2048_f16t_f16t_f16t_tile"));
  EXPECT_THAT(checked.error().message, HasSubstr(std::string(kF16)));
  EXPECT_TRUE(DispatchFilter::parse("mmasync,default")->check_all_match(names));
  const auto message = [&](std::string_view pattern) {
    return DispatchFilter::parse(pattern)->check_all_match(names).error().message;
  };
  EXPECT_THAT(message("*tile_config_63x64*"),
              HasSubstr("did you mean '" + std::string(kMixed) + "'?"));
  EXPECT_THAT(message("^f32t_.*wmma$"), HasSubstr("did you mean '" + std::string(kMixed) + "'?"));
}

}  // namespace
}  // namespace hone::profiler
