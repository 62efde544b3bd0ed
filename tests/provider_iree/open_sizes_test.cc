#include <gmock/gmock.h>

#include "provider/iree/program/program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<problem::Program> load_given(const std::string& text, const problem::GivenSizes& given) {
  return load_program(compiler(), "open.mlir", text, avx512_flags(), given);
}

std::vector<std::string> reasons(const problem::Program& program) {
  std::vector<std::string> why;
  for (const problem::Dispatch& dispatch : program.dispatches)
    if (!dispatch.not_tunable.empty()) why.push_back(dispatch.not_tunable);
  return why;
}

std::string inputs_of(const problem::Program& program) {
  std::string text;
  for (const problem::TensorType& type : program.functions.at(0).inputs)
    text += (text.empty() ? "" : ", ") + problem::to_string(type);
  return text;
}

// Three products in a row. 50 columns of 4 bytes are no whole number of 64, so that the second
// intermediate result begins at a multiple that is computed.
std::string three_products(int columns) {
  return fmt::format(R"(
func.func @mlp(%x: tensor<?x{0}xf32>, %w: tensor<{0}x{0}xf32>) -> tensor<?x{0}xf32> {{
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x{0}xf32>
  %e = tensor.empty(%m) : tensor<?x{0}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x{0}xf32>) -> tensor<?x{0}xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x{0}xf32>, tensor<{0}x{0}xf32>) outs(%f : tensor<?x{0}xf32>) -> tensor<?x{0}xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<?x{0}xf32>, tensor<{0}x{0}xf32>) outs(%f : tensor<?x{0}xf32>) -> tensor<?x{0}xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<?x{0}xf32>, tensor<{0}x{0}xf32>) outs(%f : tensor<?x{0}xf32>) -> tensor<?x{0}xf32>
  return %3 : tensor<?x{0}xf32>
}})",
                     columns);
}

TEST(OpenSizes, FollowThemThroughAlignedOffsets) {
  for (const int columns : {50, 64}) {
    const auto program = load_given(three_products(columns), {.sizes = {{"M", 16}}});
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_THAT(reasons(*program), IsEmpty()) << columns;
    int launches = 0;
    for (const problem::Dispatch& dispatch : program->dispatches)
      launches += dispatch.launches_per_call;
    EXPECT_EQ(launches, 3) << columns;
  }
}

// A recurrent step, for each of T inputs: the loop carries the state, and the compiler its extent.
constexpr char kRecurrent[] = R"(
func.func @rnn(%x: tensor<?x?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %start = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = scf.for %i = %c0 to %t step %c1 iter_args(%s = %start) -> tensor<?x64xf32> {
    %n = tensor.dim %s, %c0 : tensor<?x64xf32>
    %step = tensor.extract_slice %x[%i, 0, 0] [1, %n, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x64xf32>
    %r = linalg.matmul ins(%s, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%step : tensor<?x64xf32>) -> tensor<?x64xf32>
    scf.yield %r : tensor<?x64xf32>
  }
  return %h : tensor<?x64xf32>
})";

TEST(OpenSizes, FollowThemThroughLoops) {
  const auto program = load_given(kRecurrent, {.sizes = {{"input0.0", 5}, {"input0.1", 16}}});
  ASSERT_TRUE(program) << program.error().message;
  bool found = false;
  for (const problem::Dispatch& dispatch : program->dispatches) {
    if (dispatch.root.name != "linalg.matmul") continue;
    found = true;
    EXPECT_EQ(dispatch.not_tunable, "");
    EXPECT_TRUE(dispatch.launches_vary);
  }
  EXPECT_TRUE(found);
}

TEST(OpenSizes, TakeAShapeThatIsGivenAsAnArgument) {
  const auto program =
      load_given(three_products(50), {.shapes = {{0, {16, 50}, "--input 16x50xf32"}}});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(reasons(*program), IsEmpty());
  EXPECT_EQ(inputs_of(*program), "16x50xf32, 50x50xf32");
}

// A layer of which input, mask and residual have one batch and one length, as an importer writes
// it: names in a comment, equality nowhere.
constexpr char kMasked[] = R"(// hone: imported from layer.onnx
// hone: sizes {"batch":["input0.0","input1.0"],"length":["input0.1"]}
#id = affine_map<(b, s, h) -> (b, s, h)>
#mask = affine_map<(b, s, h) -> (b, s)>
func.func @layer(%x: tensor<?x?x32xf32>, %mask: tensor<?x?xf32>, %residual: tensor<?x?x32xf32>)
    -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x32xf32>
  %y = linalg.generic {indexing_maps = [#id, #mask, #id, #id],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mask, %residual : tensor<?x?x32xf32>, tensor<?x?xf32>, tensor<?x?x32xf32>)
      outs(%e : tensor<?x?x32xf32>) {
    ^bb0(%a: f32, %m: f32, %r: f32, %o: f32):
      %p = arith.mulf %a, %m : f32
      %q = arith.addf %p, %r : f32
      linalg.yield %q : f32
  } -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
})";

TEST(OpenSizes, AreGivenOnceWhereArgumentsShareThem) {
  const auto by_name = load_given(kMasked, {.sizes = {{"batch", 8}, {"length", 128}}});
  ASSERT_TRUE(by_name) << by_name.error().message;
  EXPECT_EQ(inputs_of(*by_name), "8x128x32xf32, 8x128xf32, 8x128x32xf32");
  EXPECT_THAT(by_name->functions.at(0).missing_sizes, IsEmpty());
  const auto by_argument = load_given(kMasked, {.shapes = {{1, {8, 128}, "--input 8x128xf32"}}});
  ASSERT_TRUE(by_argument) << by_argument.error().message;
  EXPECT_EQ(inputs_of(*by_argument), inputs_of(*by_name));
}

TEST(OpenSizes, SayWhatIsMissingAndNothingElse) {
  const auto program = load_given(kMasked, {.sizes = {{"input2.0", 8}}});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(inputs_of(*program), "8x?x32xf32, 8x?xf32, 8x?x32xf32");
  EXPECT_THAT(program->functions.at(0).missing_sizes, ElementsAre("length"));
  const auto unknown = load_given(kMasked, {.sizes = {{"batch", 8}, {"lenght", 128}}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "--dim lenght=128: the program has no such size; it leaves open: length (input0.1, "
            "input1.1, input2.1) (did you mean 'length'?)");
}

TEST(OpenSizes, RefuseTwoValuesOfOneSize) {
  const auto by_names = load_given(kMasked, {.sizes = {{"batch", 8}, {"input2.0", 4}}});
  ASSERT_FALSE(by_names);
  EXPECT_EQ(by_names.error().kind, ErrorKind::kInput);
  EXPECT_EQ(by_names.error().message,
            "--dim input2.0=4 contradicts --dim batch=8: batch, input0.0, input1.0, input2.0 is "
            "one size of the program, given as 8 and as 4");
  const auto by_shapes = load_given(
      kMasked, {.sizes = {{"batch", 8}}, .shapes = {{0, {4, 128, 32}, "--input 4x128x32xf32"}}});
  ASSERT_FALSE(by_shapes);
  EXPECT_THAT(by_shapes.error().message,
              HasSubstr("--input 4x128x32xf32 contradicts --dim batch=8"));
  const auto by_role = load_given(
      three_products(64), {.sizes = {{"M", 16}}, .shapes = {{0, {8, 64}, "--input 8x64xf32"}}});
  ASSERT_FALSE(by_role);
  EXPECT_THAT(by_role.error().message, HasSubstr("--input 8x64xf32 contradicts --dim M=16"));
}

// Sizes of one function say nothing of another's.
TEST(OpenSizes, AreEachFunctionsOwn) {
  const auto program = load_given(
      R"(
func.func @a(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = math.exp %x : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
func.func @b(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = math.exp %x : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
})",
      {.function = "b", .shapes = {{0, {16, 32}, "--input 16x32xf32"}}});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(program->functions.at(0).missing_sizes, ElementsAre("input0.0"));
  EXPECT_EQ(problem::to_string(program->functions.at(1).inputs.at(0)), "16x32xf32");
}

}  // namespace
}  // namespace hone::iree
