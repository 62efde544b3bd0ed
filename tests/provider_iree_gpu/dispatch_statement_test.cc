// What dispatches state for those who write kernels in their place, as IREE splits programs.
#include <gmock/gmock.h>

#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<problem::Dispatch> dispatches_of(const std::string& program) {
  const auto loaded = load_program(compiler(), "main.mlir", program, flags_for("sm_80"), {});
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return loaded->dispatches;
}

json statement_of(const std::string& program) {
  return dispatches_of(program).front().statement.value();
}

std::string sizes_and_roles(const json& stated) {
  std::string text;
  for (const json& loop : stated.at("loops"))
    text += fmt::format("{}{} ", loop.at("role").get<std::string>(), loop.at("size").get<int>());
  return text;
}

std::vector<std::string> operations(const json& stated) {
  std::vector<std::string> names;
  for (const json& value : stated.at("values")) names.push_back(value.at("op"));
  return names;
}

// gelu'(A B + bias), narrowed: x * tanh(x).
constexpr char kFeedForward[] = R"(
func.func @main(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %bias: tensor<48xf16>) -> tensor<64x48xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %m = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %o = tensor.empty() : tensor<64x48xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%m, %bias : tensor<64x48xf32>, tensor<48xf16>) outs(%o : tensor<64x48xf16>) {
   ^bb0(%x: f32, %y: f16, %u: f16):
     %w = arith.extf %y : f16 to f32
     %s = arith.addf %x, %w : f32
     %t = math.tanh %s : f32
     %g = arith.mulf %s, %t : f32
     %n = arith.truncf %g : f32 to f16
     linalg.yield %n : f16
  } -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
})";

TEST(DispatchStatement, SaysWhatIsReadMultipliedAndComputedBehindIt) {
  const json stated = statement_of(kFeedForward);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(stated["kind"], "contraction");
  EXPECT_EQ(sizes_and_roles(stated), "m64 n48 k32 ");
  EXPECT_EQ(stated["lhs"]["strides"], json({32, 0, 1}));
  EXPECT_EQ(stated["rhs"]["strides"], json({0, 1, 48}));
  EXPECT_EQ(stated["lhs"]["type"], "f16");
  EXPECT_EQ(stated["accumulator"], "f32");
  EXPECT_EQ(stated["start"], 0.0);
  EXPECT_THAT(operations(stated), testing::ElementsAre("root", "load", "arith.extf", "arith.addf",
                                                       "math.tanh", "arith.mulf", "arith.truncf"));
  EXPECT_EQ(stated["values"][1]["strides"], json({0, 1, 0})) << "the bias, along n";
  EXPECT_EQ(stated["values"][5]["operands"], json({3, 4}));
  ASSERT_EQ(stated["stores"].size(), 1u);
  EXPECT_EQ(stated["stores"][0]["strides"], json({48, 1, 0}));
  EXPECT_EQ(stated["stores"][0]["value"], 6);
  EXPECT_EQ(stated["bindings"], 4);
  EXPECT_EQ(stated["constants"], 0);
  EXPECT_THAT(stated["entry"].get<std::string>(), StartsWith("main_dispatch_0_matmul_64x48x32"));
  EXPECT_THAT(stated["layout"].get<std::string>(), StartsWith("#hal.pipeline.layout<bindings = ["));
}

// IREE puts small constants into the dispatches that read them, as the biases of models with
// weights of their own are: 0, 1/2, 1, ... in f16, two in a word.
TEST(DispatchStatement, ATableOfConstantsIsAllInIt) {
  std::string values, program = kFeedForward;
  for (int i = 0; i < 48; ++i) values += fmt::format("{}{:.1f}", i == 0 ? "" : ", ", 0.5 * i);
  const std::string argument = ", %bias: tensor<48xf16>";
  program.replace(program.find(argument), argument.size(), "");
  program.replace(program.find("  %z ="), 0,
                  "  %bias = arith.constant dense<[" + values + "]> : tensor<48xf16>\n");
  const json stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  const json& table = stated["values"][1];
  EXPECT_EQ(table["op"], "table");
  EXPECT_EQ(table["type"], "f16");
  EXPECT_EQ(table["strides"], json({0, 1, 0}));
  EXPECT_FALSE(table.contains("view"));
  ASSERT_EQ(table["words"].size(), 24u);
  EXPECT_EQ(table["words"][0], 0x38000000);  // 0 and, above it, 1/2
  EXPECT_EQ(table["words"][1], 0x3E003C00);  // 1 and 3/2
  EXPECT_EQ(stated["bindings"], 3);
}

// 3 x 3 over a padded image of 10 x 10 x 16: a step in y is 160 elements, in a filter's row too.
TEST(DispatchStatement, AConvolutionWalksItsImageByTwoLoopsAtOnce) {
  const json stated = statement_of(convolution(/*nchw=*/false, 2, 8, 16, 32));
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(sizes_and_roles(stated), "m2 m8 m8 n32 k3 k3 k16 ");
  EXPECT_EQ(stated["lhs"]["strides"], json({1600, 160, 16, 0, 160, 16, 1}));
  EXPECT_EQ(stated["rhs"]["strides"], json({0, 0, 0, 1, 1536, 512, 32}));
}

TEST(DispatchStatement, ABatchIsWhatAllThreeHave) {
  const json stated = statement_of(batch_matmul(4, 64, 32, 16));
  EXPECT_EQ(sizes_and_roles(stated), "batch4 m64 n32 k16 ");
  EXPECT_EQ(stated["lhs"]["strides"], json({1024, 16, 0, 1}));
  EXPECT_EQ(stated["rhs"]["strides"], json({512, 0, 1, 32}));
}

TEST(DispatchStatement, ATransposedOperandHasItsStridesTheOtherWayRound) {
  const json stated = statement_of(matmul(64, 48, 32, "f16", "f32", /*transpose_b=*/true));
  EXPECT_EQ(stated["rhs"]["strides"], json({0, 32, 1}));
}

// A 1x1 convolution of stride 2, as IREE makes it of ResNet-50's: `body` of %x, %y and the sum %u.
std::string every_second_pixel(const std::string& body) {
  return R"(
func.func @main(%w: tensor<48x32xf16>, %i: tensor<32x16x16xf16>) -> tensor<48x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<48x8x8xf32>) -> tensor<48x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, y, x, c) -> (f, c)>, affine_map<(f, y, x, c) -> (c, y * 2, x * 2)>, affine_map<(f, y, x, c) -> (f, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %i : tensor<48x32xf16>, tensor<32x16x16xf16>) outs(%f : tensor<48x8x8xf32>) {
   ^bb0(%x: f16, %y: f16, %u: f32):
     %a = arith.extf %x : f16 to f32
     %b = arith.extf %y : f16 to f32
     )" + body +
         R"(
     linalg.yield %s : f32
  } -> tensor<48x8x8xf32>
  return %r : tensor<48x8x8xf32>
})";
}

TEST(DispatchStatement, AProductMayTakeEverySecondElement) {
  const json stated = statement_of(
      every_second_pixel("%p = arith.mulf %a, %b : f32\n %s = arith.addf %u, %p : f32"));
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(stated["kind"], "contraction");
  EXPECT_EQ(sizes_and_roles(stated), "m48 n8 n8 k32 ");
  EXPECT_EQ(stated["rhs"]["strides"], json({0, 32, 2, 256}));
  // Not each sum over two operands is one of products.
  for (const char* body : {"%p = arith.addf %a, %b : f32\n %s = arith.addf %u, %p : f32",
                           "%p = arith.mulf %a, %a : f32\n %s = arith.addf %p, %u : f32",
                           "%p = arith.mulf %a, %b : f32\n %s = arith.maximumf %u, %p : f32"})
    EXPECT_EQ(statement_of(every_second_pixel(body))["kind"], "elementwise") << body;
  EXPECT_EQ(statement_of(every_second_pixel(
                "%p = arith.mulf %a, %a : f32\n %s = arith.addf %p, %b : f32"))["why_not"],
            "its reduction is neither a sum nor a product nor a choice");
}

// A layer reads what the one before has left in the buffer of intermediate results.
TEST(DispatchStatement, NamesTheConstantsThatSayWhereViewsBegin) {
  std::string arguments = "%h0: tensor<64x64xf16>", layers;
  constexpr int kLayers = 5;
  for (int i = 0; i < kLayers; ++i) {
    arguments += fmt::format(", %w{}: tensor<64x64xf16>", i);
    layers += fmt::format(
        "  %h{1} = linalg.matmul ins(%h{0}, %w{0} : tensor<64x64xf16>, tensor<64x64xf16>) "
        "outs(%f : tensor<64x64xf16>) -> tensor<64x64xf16>\n",
        i, i + 1);
  }
  const std::string program = fmt::format(R"(
func.func @main({}) -> tensor<64x64xf16> {{
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
{}  return %h{} : tensor<64x64xf16>
}})",
                                          arguments, layers, kLayers);
  bool some_have_words = false;
  for (const problem::Dispatch& dispatch : dispatches_of(program)) {
    const json stated = dispatch.statement.value();
    ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
    for (const json& view : stated["views"]) {
      for (const json& word : view["words"]) EXPECT_LT(word, stated["constants"]);
      EXPECT_EQ(view["multiple"].get<int>() % 64, 0);
      some_have_words = some_have_words || !view["words"].empty();
    }
    EXPECT_EQ(stated["constants"], dispatch.constants.size());
  }
  EXPECT_TRUE(some_have_words);
}

// Two products of %a, as IREE fuses query and key, and their difference; `first`: of the second
// product, the operand that is %a in the other.
std::string two_products(const std::string& first) {
  return R"(
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @main(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<32x48xf16>) -> tensor<64x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r:2 = linalg.generic {indexing_maps = [#lhs, #rhs, #rhs, #result, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %c : tensor<64x32xf16>, tensor<32x48xf16>, tensor<32x48xf16>) outs(%f, %f : tensor<64x48xf32>, tensor<64x48xf32>) {
   ^bb0(%x: f16, %y: f16, %w: f16, %u: f32, %v: f32):
     %xx = arith.extf %x : f16 to f32
     %yy = arith.extf %y : f16 to f32
     %ww = arith.extf %w : f16 to f32
     %p = arith.mulf %xx, %yy : f32
     %q = arith.mulf )" +
         first + R"(, %ww : f32
     %s = arith.addf %u, %p : f32
     %t = arith.addf %v, %q : f32
     linalg.yield %s, %t : f32, f32
  } -> (tensor<64x48xf32>, tensor<64x48xf32>)
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r#0, %r#1 : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
   ^bb0(%x: f32, %y: f32, %u: f32):
     %s = arith.subf %x, %y : f32
     linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %d : tensor<64x48xf32>
})";
}

TEST(DispatchStatement, SeveralProductsHaveOneLeftOperand) {
  const json stated = statement_of(two_products("%xx"));
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(sizes_and_roles(stated), "m64 n48 k32 ");
  EXPECT_EQ(stated["lhs"]["strides"], json({32, 0, 1}));
  EXPECT_EQ(stated["rhs"]["strides"], json({0, 1, 48}));
  EXPECT_EQ(stated["rhs1"]["strides"], json({0, 1, 48}));
  EXPECT_NE(stated["rhs"]["view"], stated["rhs1"]["view"]);
  EXPECT_THAT(operations(stated), testing::ElementsAre("root", "root", "arith.subf"));
  EXPECT_FALSE(stated["values"][0].contains("product"));
  EXPECT_EQ(stated["values"][1]["product"], 1);
  EXPECT_EQ(stated["values"][2]["operands"], json({0, 1}));
  EXPECT_EQ(statement_of(two_products("%yy"))["why_not"],
            "its products are not all of one left operand");
}

// Each key of a group is for three queries: stored three times, 64 x 48 elements apart.
TEST(DispatchStatement, AResultMayBeRepeated) {
  const json stated = statement_of(R"(
func.func @main(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>) -> tensor<3x64x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %m = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %o = tensor.empty() : tensor<3x64x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(g, m, n) -> (m, n)>, affine_map<(g, m, n) -> (g, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m : tensor<64x48xf32>) outs(%o : tensor<3x64x48xf32>) {
   ^bb0(%x: f32, %u: f32):
     %t = math.tanh %x : f32
     linalg.yield %t : f32
  } -> tensor<3x64x48xf32>
  return %r : tensor<3x64x48xf32>
})");
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  ASSERT_EQ(stated["stores"].size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stated["stores"][i]["offset"], i * 64 * 48);
    EXPECT_EQ(stated["stores"][i]["strides"], json({48, 1, 0}));
    EXPECT_EQ(stated["stores"][i]["value"], 1);
  }
}

// Rows of `x` with a bias, without a product; `yields` %s of %x and %y. `result`: the map of what
// is stored.
std::string with_bias(const std::string& result, const std::string& shape,
                      const std::string& yields = "%s = arith.addf %x, %y : f32") {
  return fmt::format(R"(
func.func @main(%a: tensor<7x31x33xf32>, %b: tensor<33xf32>) -> tensor<{1}xf32> {{
  %e = tensor.empty() : tensor<{1}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> {0}>], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%a, %b : tensor<7x31x33xf32>, tensor<33xf32>) outs(%e : tensor<{1}xf32>) {{
   ^bb0(%x: f32, %y: f32, %u: f32):
     {2}
     linalg.yield %s : f32
  }} -> tensor<{1}xf32>
  return %r : tensor<{1}xf32>
}})",
                     result, shape, yields);
}

// 7 x 31 rows are one dimension. If the result has i last, k is the innermost loop of m: the
// operand is contiguous along it.
TEST(DispatchStatement, MayHaveNoProduct) {
  const json rows = statement_of(with_bias("(i, j, k)", "7x31x33"));
  ASSERT_FALSE(rows.contains("why_not")) << rows["why_not"];
  EXPECT_EQ(rows["kind"], "elementwise");
  EXPECT_EQ(sizes_and_roles(rows), "m217 n33 ");
  EXPECT_THAT(operations(rows), testing::ElementsAre("load", "load", "arith.addf"));
  EXPECT_EQ(rows["values"][0]["strides"], json({33, 1}));
  EXPECT_EQ(rows["values"][1]["strides"], json({0, 1}));
  EXPECT_EQ(rows["stores"][0]["strides"], json({33, 1}));
  const json turned = statement_of(with_bias("(k, j, i)", "33x31x7"));
  ASSERT_FALSE(turned.contains("why_not")) << turned["why_not"];
  EXPECT_EQ(sizes_and_roles(turned), "n31 n7 m33 ");
  EXPECT_EQ(turned["values"][0]["strides"], json({33, 31 * 33, 1}));
  EXPECT_EQ(turned["stores"][0]["strides"], json({7, 1, 31 * 7}));
  EXPECT_THAT(statement_of(with_bias("(i, j, k)", "7x31x33",
                                     "%n = linalg.index 1 : index\n %m = arith.index_cast %n : "
                                     "index to i32\n %s = arith.sitofp %m : i32 to f32"))["why_not"]
                  .get<std::string>(),
              HasSubstr("linalg.index"));
}

TEST(DispatchStatement, ASoftmaxIsTwoReductionsOfARow) {
  const json stated = statement_of(R"(
func.func @main(%x: tensor<64x33xf16>) -> tensor<64x33xf16> {
  %e = tensor.empty() : tensor<64x33xf16>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x33xf16>) outs(%e : tensor<64x33xf16>) -> tensor<64x33xf16>
  return %r : tensor<64x33xf16>
})");
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(sizes_and_roles(stated), "m64 k33 ");
  EXPECT_THAT(operations(stated),
              testing::ElementsAre("load", "arith.extf", "reduce", "arith.subf", "math.exp",
                                   "reduce", "arith.divf", "arith.truncf"));
  EXPECT_EQ(stated["values"][2]["combines"], "arith.maximumf");
  EXPECT_EQ(stated["values"][2]["start"], "-inf");
  EXPECT_EQ(stated["values"][5]["combines"], "arith.addf");
  EXPECT_EQ(stated["stores"][0]["strides"], json({33, 1}));
}

// Each element by the largest of its column, in a view of its own: a row per column of x.
TEST(DispatchStatement, AReductionMayBeOfColumnsWithValuesBehindIt) {
  const json stated = statement_of(R"(
func.func @main(%x: tensor<33x257xf32>) -> tensor<33x257xf32> {
  %l = arith.constant 0xFF800000 : f32
  %c = tensor.empty() : tensor<257xf32>
  %e = tensor.empty() : tensor<33x257xf32>
  %f = linalg.fill ins(%l : f32) outs(%c : tensor<257xf32>) -> tensor<257xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<33x257xf32>) outs(%f : tensor<257xf32>) {
   ^bb0(%a: f32, %u: f32):
     %s = arith.maximumf %a, %u : f32
     linalg.yield %s : f32
  } -> tensor<257xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<33x257xf32>, tensor<257xf32>) outs(%e : tensor<33x257xf32>) {
   ^bb0(%a: f32, %b: f32, %u: f32):
     %s = arith.divf %a, %b : f32
     linalg.yield %s : f32
  } -> tensor<33x257xf32>
  return %r : tensor<33x257xf32>
})");
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(sizes_and_roles(stated), "k33 m257 ");
  EXPECT_THAT(operations(stated), testing::ElementsAre("load", "reduce", "arith.divf"));
  EXPECT_EQ(stated["values"][2]["operands"], json({0, 1}));
  EXPECT_EQ(stated["stores"][0]["strides"], json({257, 1}));
}

TEST(DispatchStatement, SaysWhatIsOfAnotherForm) {
  constexpr char kAdds[] = R"(
func.func @main(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %m : tensor<64x48xf32>
})";
  EXPECT_EQ(statement_of(kAdds)["why_not"], "its sums begin at values that are read");
}

}  // namespace
}  // namespace hone::iree::gpu
