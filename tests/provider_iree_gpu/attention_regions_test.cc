// Attention that programs state as products and a softmax, and the spec that makes it one dispatch.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <string>

#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/program/program.h"
#include "tests/provider_iree_gpu/regions.h"

namespace hone::iree {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Parts of a program of attention of 2 heads of 16 queries, 32 keys and 8 elements.
struct Parts {
  std::string scaled = "arith.mulf %x, %by : f32";  // of a score %x and the constant %by
  // Lines that make %masked of %scaled.
  std::string mask = R"(
  %masked = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = [#p, #p, #p]}
      ins(%scaled, %mask : tensor<2x16x32xf32>, tensor<16x32xf32>) outs(%es : tensor<2x16x32xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %s = arith.addf %x, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x16x32xf32>)";
  std::string subtracted = "arith.subf %x, %l : f32";
  std::string largest = "arith.maximumf %x, %o : f32";
  std::string divided = "arith.divf %x, %l : f32";
  std::string results = "tensor<2x16x8xf32>", returned = "%values : tensor<2x16x8xf32>";
};

std::string program(const Parts& parts) {
  const std::string text = fmt::format(
      R"mlir(func.func @main(%q: tensor<2x16x8xf32>, %k: tensor<2x8x32xf32>, %v: tensor<2x32x8xf32>,
                %mask: tensor<16x32xf32>) -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %by = arith.constant 0.5 : f32
  %es = tensor.empty() : tensor<2x16x32xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %scores = linalg.batch_matmul ins(%q, %k : tensor<2x16x8xf32>, tensor<2x8x32xf32>)
      outs(%fs : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %scaled = linalg.generic {{indexing_maps = [#all, #all], iterator_types = [#p, #p, #p]}}
      ins(%scores : tensor<2x16x32xf32>) outs(%es : tensor<2x16x32xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %s = {scaled}
    linalg.yield %s : f32
  }} -> tensor<2x16x32xf32>{mask}
  %er = tensor.empty() : tensor<2x16xf32>
  %fl = linalg.fill ins(%lowest : f32) outs(%er : tensor<2x16xf32>) -> tensor<2x16xf32>
  %largest = linalg.generic {{indexing_maps = [#all, #rows], iterator_types = [#p, #p, #r]}}
      ins(%masked : tensor<2x16x32xf32>) outs(%fl : tensor<2x16xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %s = {largest}
    linalg.yield %s : f32
  }} -> tensor<2x16xf32>
  %powers = linalg.generic {{indexing_maps = [#all, #rows, #all], iterator_types = [#p, #p, #p]}}
      ins(%masked, %largest : tensor<2x16x32xf32>, tensor<2x16xf32>)
      outs(%es : tensor<2x16x32xf32>) {{
  ^bb0(%x: f32, %l: f32, %o: f32):
    %d = {subtracted}
    %s = math.exp %d : f32
    linalg.yield %s : f32
  }} -> tensor<2x16x32xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<2x16xf32>) -> tensor<2x16xf32>
  %sums = linalg.generic {{indexing_maps = [#all, #rows], iterator_types = [#p, #p, #r]}}
      ins(%powers : tensor<2x16x32xf32>) outs(%fz : tensor<2x16xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }} -> tensor<2x16xf32>
  %weights = linalg.generic {{indexing_maps = [#all, #rows, #all], iterator_types = [#p, #p, #p]}}
      ins(%powers, %sums : tensor<2x16x32xf32>, tensor<2x16xf32>)
      outs(%es : tensor<2x16x32xf32>) {{
  ^bb0(%x: f32, %l: f32, %o: f32):
    %s = {divided}
    linalg.yield %s : f32
  }} -> tensor<2x16x32xf32>
  %ev = tensor.empty() : tensor<2x16x8xf32>
  %fv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %values = linalg.batch_matmul ins(%weights, %v : tensor<2x16x32xf32>, tensor<2x32x8xf32>)
      outs(%fv : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return {returned}
}}
)mlir",
      fmt::arg("results", parts.results), fmt::arg("scaled", parts.scaled),
      fmt::arg("mask", parts.mask), fmt::arg("largest", parts.largest),
      fmt::arg("subtracted", parts.subtracted), fmt::arg("divided", parts.divided),
      fmt::arg("returned", parts.returned));
  std::string written = replaced(text, "#all", "affine_map<(d0, d1, d2) -> (d0, d1, d2)>");
  written = replaced(written, "#rows", "affine_map<(d0, d1, d2) -> (d0, d1)>");
  written = replaced(written, "#row", "affine_map<(d0, d1, d2) -> (d1, d2)>");
  return replaced(replaced(written, "#p", "\"parallel\""), "#r", "\"reduction\"");
}

class AttentionRegions : public RegionTest {
 protected:
  problem::Regions regions_of(const Parts& parts) const {
    return load("main.mlir", program(parts), sm_80_flags()).regions;
  }
};

// The search for flags splits the program under the first sets before it knows its dispatches.
TEST_F(AttentionRegions, AndTheirChoicesShowBeforeAnythingIsFused) {
  std::string converted;
  const auto unfused =
      load_unfused(compiler(), "main.mlir", program({}), sm_80_flags(), &converted);
  ASSERT_TRUE(unfused) << unfused.error().message;
  const problem::Program split = load("main.mlir", program({}), sm_80_flags());
  EXPECT_EQ(unfused->regions, split.regions);
  EXPECT_EQ(unfused->hash, split.hash);
  const auto tried = [](const problem::Program& each) {
    std::vector<std::string> names;
    for (const provider::FlagChoice& choice : flag_choices(each, {}, /*vector_bits=*/0, "out"))
      if (choice.why_not.empty()) names.push_back(choice.name);
    return names;
  };
  EXPECT_EQ(tried(*unfused), tried(split));
  EXPECT_THAT(tried(*unfused), Contains("regions"));
  const auto shared = load_program(compiler(), "main.mlir", program({}), sm_80_flags(), {},
                                   {.converted = &converted});
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(shared->dispatches.size(), split.dispatches.size());
  EXPECT_THAT(converted, Not(IsEmpty()));
}

TEST_F(AttentionRegions, BecomeOneDispatch) {
  const problem::Regions regions = regions_of({});
  EXPECT_THAT(regions.names, ElementsAre("attention 2x16x8x32x8"));
  const problem::Program program_with =
      load("main.mlir", program({}), with_spec(sm_80_flags(), regions.spec));
  ASSERT_EQ(program_with.dispatches.size(), 1u);
  EXPECT_EQ(program_with.dispatches[0].root.kind, problem::OperationKind::kAttention);
  EXPECT_EQ(program_with.dispatches[0].statement->scale, 0.5);
  EXPECT_EQ(program_with.dispatches[0].statement->operands.size(), 4u) << "a mask";
  EXPECT_THAT(program_with.regions.names, IsEmpty());
}

// Each differs from attention in one operation.
TEST_F(AttentionRegions, AreNoOtherOperations) {
  EXPECT_THAT(regions_of({.scaled = "arith.addf %x, %by : f32"}).names, IsEmpty());
  EXPECT_THAT(regions_of({.scaled = "arith.divf %by, %x : f32"}).names, IsEmpty());
  EXPECT_THAT(regions_of({.subtracted = "arith.subf %l, %x : f32"}).names, IsEmpty());
  EXPECT_THAT(regions_of({.largest = "arith.minimumf %x, %o : f32"}).names, IsEmpty());
  EXPECT_THAT(regions_of({.divided = "arith.divf %l, %x : f32"}).names, IsEmpty());
  // Somebody else reads the weights.
  EXPECT_THAT(
      regions_of({.results = "tensor<2x16x8xf32>, tensor<2x16x32xf32>",
                  .returned = "%values, %weights : tensor<2x16x8xf32>, tensor<2x16x32xf32>"})
          .names,
      IsEmpty());
}

TEST_F(AttentionRegions, NeedNoMaskAndTakeADivisor) {
  const problem::Regions regions =
      regions_of({.scaled = "arith.divf %x, %by : f32",
                  .mask = "\n  %masked = tensor.cast %scaled : tensor<2x16x32xf32> to "
                          "tensor<2x16x32xf32>"});
  EXPECT_THAT(regions.names, ElementsAre("attention 2x16x8x32x8"));
  EXPECT_THAT(regions.spec, HasSubstr("%scale = arith.constant 2.000000000e+00 : f32"));
}

// Runs the program on this CPU under flags. Only the first two keys of head 0 and the first of head
// 1 are not masked by their scores: those of the two are 0 and 8 x 0.27465307 x 0.5 = ln 3, so
// their weights are 1/4 and 3/4. Values are the numbers of the keys: the means are 3/4 and 0.
class RunningRegions : public AttentionRegions {
 protected:
  bool is_right(const std::string& spec) const {
    std::vector<std::string> keys, values, mask, means;
    for (int row = 0; row < 16; ++row)  // 2 heads of 8 elements
      for (int key = 0; key < 32; ++key)
        keys.emplace_back(key != 1 ? "0" : row < 8 ? "0.27465307" : "-1000");
    for (int row = 0; row < 2 * 32; ++row)
      for (int element = 0; element < 8; ++element) values.push_back(std::to_string(row % 32));
    for (int query = 0; query < 16; ++query)
      for (int key = 0; key < 32; ++key) mask.emplace_back(key < 2 ? "0" : "-1000");
    for (int head = 0; head < 2; ++head)
      for (int element = 0; element < 16 * 8; ++element)
        means.emplace_back(head == 0 ? "0.75" : "0");
    return gives(program({}), spec,
                 fmt::format("--input=2x16x8xf32=1 '--input=2x8x32xf32={}' '--input=2x32x8xf32={}' "
                             "'--input=16x32xf32={}' '--expected_output=2x16x8xf32={}'",
                             fmt::join(keys, " "), fmt::join(values, " "), fmt::join(mask, " "),
                             fmt::join(means, " ")));
  }
};

TEST_F(RunningRegions, ComputeWhatTheirPartsDo) {
  EXPECT_TRUE(is_right(""));
  EXPECT_TRUE(is_right(regions_of({}).spec));
}

// Each fault is planted into the text of the spec.
TEST_F(RunningRegions, ShowAFaultOfTheSpec) {
  const std::string spec = regions_of({}).spec;
  const auto planted = [](const std::string& text, const std::string& what,
                          const std::string& with) {
    EXPECT_THAT(text, HasSubstr(what));
    return replaced(text, what, with);
  };
  const std::string other_scale =
      planted(spec, "%scale = arith.constant 5", "%scale = arith.constant 4");
  EXPECT_FALSE(is_right(other_scale));
  const std::string no_mask =
      planted(planted(planted(spec, "affine_map<(b0, m, k1, k2, n) -> (m, k2)>,\n", ""),
                      "%scale, %arg3", "%scale"),
              "f32, tensor<16x32xf32>)", "f32)");
  EXPECT_FALSE(is_right(no_mask));
  const std::string swapped_heads =
      planted(planted(spec, "    %scale =",
                      R"(    %head_0 = tensor.extract_slice %arg1[0, 0, 0] [1, 8, 32] [1, 1, 1]
        : tensor<2x8x32xf32> to tensor<1x8x32xf32>
    %head_1 = tensor.extract_slice %arg1[1, 0, 0] [1, 8, 32] [1, 1, 1]
        : tensor<2x8x32xf32> to tensor<1x8x32xf32>
    %swapped = tensor.concat dim(0) %head_1, %head_0
        : (tensor<1x8x32xf32>, tensor<1x8x32xf32>) -> tensor<2x8x32xf32>
    %scale =)"),
              "ins(%arg0, %arg1, %arg2", "ins(%arg0, %swapped, %arg2");
  EXPECT_FALSE(is_right(swapped_heads));
}

// Attention of two images of two heads, with the heads as a dimension of their own in between.
constexpr std::string_view kHeads = R"mlir(
func.func @main(%q: tensor<4x16x8xf32>, %k: tensor<4x8x32xf32>, %v: tensor<4x32x8xf32>,
                %mask: tensor<2x1x1x32xf32>) -> tensor<4x16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x16x32xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %scores = linalg.batch_matmul ins(%q, %k : tensor<4x16x8xf32>, tensor<4x8x32xf32>)
      outs(%fs : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %heads = tensor.expand_shape %scores [[0, 1], [2], [3]] output_shape [2, 2, 16, 32]
      : tensor<4x16x32xf32> into tensor<2x2x16x32xf32>
  %eh = tensor.empty() : tensor<2x2x16x32xf32>
  %masked = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>,
                       affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>,
                       affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%heads, %mask : tensor<2x2x16x32xf32>, tensor<2x1x1x32xf32>)
      outs(%eh : tensor<2x2x16x32xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %s = arith.addf %m, %x : f32
    linalg.yield %s : f32
  } -> tensor<2x2x16x32xf32>
  %weights = linalg.softmax dimension(3) ins(%masked : tensor<2x2x16x32xf32>)
      outs(%eh : tensor<2x2x16x32xf32>) -> tensor<2x2x16x32xf32>
  %rows = tensor.collapse_shape %weights [[0, 1], [2], [3]]
      : tensor<2x2x16x32xf32> into tensor<4x16x32xf32>
  %ev = tensor.empty() : tensor<4x16x8xf32>
  %fv = linalg.fill ins(%zero : f32) outs(%ev : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %values = linalg.batch_matmul ins(%rows, %v : tensor<4x16x32xf32>, tensor<4x32x8xf32>)
      outs(%fv : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  return %values : tensor<4x16x8xf32>
})mlir";

// Two images of two heads, whose mask has a row for each image: the first sees key 0 alone, the
// second key 1. Values are the numbers of the keys.
TEST_F(RunningRegions, TakeAMaskOfSomeDimensionsOfTheBatch) {
  const std::string text(kHeads);
  const problem::Regions regions = load("main.mlir", text, sm_80_flags()).regions;
  ASSERT_THAT(regions.names, ElementsAre("attention 4x16x8x32x8"));
  const problem::Program whole = load("main.mlir", text, with_spec(sm_80_flags(), regions.spec));
  ASSERT_EQ(whole.dispatches.size(), 1u);
  EXPECT_EQ(whole.dispatches[0].statement->why_not, "");
  std::vector<std::string> values, mask, means;
  for (int row = 0; row < 4 * 32; ++row)
    for (int element = 0; element < 8; ++element) values.push_back(std::to_string(row % 32));
  for (int image = 0; image < 2; ++image)
    for (int key = 0; key < 32; ++key) mask.emplace_back(key == image ? "0" : "-1000");
  for (int element = 0; element < 4 * 16 * 8; ++element)
    means.emplace_back(element < 2 * 16 * 8 ? "0" : "1");
  const std::string call = fmt::format(
      "--input=4x16x8xf32=1 --input=4x8x32xf32=1 '--input=4x32x8xf32={}' "
      "'--input=2x1x1x32xf32={}' '--expected_output=4x16x8xf32={}'",
      fmt::join(values, " "), fmt::join(mask, " "), fmt::join(means, " "));
  EXPECT_TRUE(gives(text, "", call));
  EXPECT_TRUE(gives(text, regions.spec, call));
}

// A mask that is added before the heads are a dimension of their own has other dimensions.
TEST_F(AttentionRegions, TakeAMaskInTheShapeOfTheSoftmaxOnly) {
  const auto names = [](const std::string& text) {
    return load("main.mlir", text, sm_80_flags()).regions.names;
  };
  std::string text = replaced(std::string(kHeads), R"(
                       affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>,)",
                              "");
  text = replaced(text, "ins(%heads, %mask : tensor<2x2x16x32xf32>, tensor<2x1x1x32xf32>)",
                  "ins(%heads : tensor<2x2x16x32xf32>)");
  text = replaced(text, R"(^bb0(%x: f32, %m: f32, %o: f32):
    %s = arith.addf %m, %x : f32)",
                  R"(^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %zero : f32)");
  EXPECT_THAT(names(text), ElementsAre("attention 4x16x8x32x8"));
  text = replaced(text, "%mask: tensor<2x1x1x32xf32>", R"(%mask: tensor<2x1x1x32xf32>,
                %row: tensor<16x32xf32>)");
  text = replaced(text, "%heads = tensor.expand_shape %scores", R"(%added = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                       affine_map<(d0, d1, d2) -> (d1, d2)>,
                       affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %row : tensor<4x16x32xf32>, tensor<16x32xf32>)
      outs(%es : tensor<4x16x32xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %s = arith.addf %m, %x : f32
    linalg.yield %s : f32
  } -> tensor<4x16x32xf32>
  %heads = tensor.expand_shape %added)");
  EXPECT_THAT(names(text), IsEmpty());
}

}  // namespace
}  // namespace hone::iree
