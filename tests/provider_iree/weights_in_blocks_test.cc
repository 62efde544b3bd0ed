// The transform spec that lays weights out in blocks of columns, by the compiler itself.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "provider/iree/compiler/transform_specs.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;

constexpr int kColumns = 32;

// Flags with the spec in a file of their own.
class WeightsInBlocks : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = folder_.path() / "blocks.mlir";
    ASSERT_TRUE(write_file_atomically(file, weights_in_blocks(kColumns)));
    for (std::vector<std::string>* flags : {&flags_, &host_flags_})
      flags->push_back(std::string(kTransformSpecFlag) + file.string());
  }

  // "2x32x32x128": the sizes of the loops of each product, in the order of the program.
  std::vector<std::string> loops_of(const std::string& text) const {
    std::vector<std::string> found;
    for (const problem::Dispatch& dispatch : load("program.mlir", text, flags_).dispatches) {
      if (dispatch.name.find("matmul") == std::string::npos) continue;
      std::vector<std::int64_t> sizes;
      for (const problem::Loop& loop : dispatch.root.loops) sizes.push_back(loop.size);
      found.push_back(fmt::format("{}", fmt::join(sizes, "x")));
    }
    return found;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("hone-test-").value();
  std::vector<std::string> flags_ = avx512_flags();
  std::vector<std::string> host_flags_ = host_cpu_flags();
};

// Weights that lie by rows, by columns, and behind what makes a batch of one of them: each of 64 or
// 96 columns is two or three blocks of 32, whose rows are a loop behind them.
TEST_F(WeightsInBlocks, TakesEachFormOfAProduct) {
  EXPECT_THAT(loops_of(R"(
util.global private @a = #flow.parameter.named<"a"> : tensor<128x64xf32>
util.global private @b = #flow.parameter.named<"b"> : tensor<64x64xf32>
util.global private @c = #flow.parameter.named<"c"> : tensor<64x96xf32>
func.func @main(%x: tensor<48x128xf32>) -> tensor<1x48x96xf32> {
  %zero = arith.constant 0.0 : f32
  %a = util.global.load @a : tensor<128x64xf32>
  %b = util.global.load @b : tensor<64x64xf32>
  %c = util.global.load @c : tensor<64x96xf32>
  %e = tensor.empty() : tensor<48x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x64xf32>) -> tensor<48x64xf32>
  %rows = linalg.matmul ins(%x, %a : tensor<48x128xf32>, tensor<128x64xf32>)
                        outs(%f : tensor<48x64xf32>) -> tensor<48x64xf32>
  %columns = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
                       affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %b : tensor<48x64xf32>, tensor<64x64xf32>) outs(%f : tensor<48x64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x64xf32>
  %eb = tensor.empty() : tensor<1x64x96xf32>
  %wb = linalg.broadcast ins(%c : tensor<64x96xf32>) outs(%eb : tensor<1x64x96xf32>) dimensions = [0]
  %y = tensor.expand_shape %columns [[0, 1], [2]] output_shape [1, 48, 64]
      : tensor<48x64xf32> into tensor<1x48x64xf32>
  %ez = tensor.empty() : tensor<1x48x96xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ez : tensor<1x48x96xf32>) -> tensor<1x48x96xf32>
  %z = linalg.batch_matmul ins(%y, %wb : tensor<1x48x64xf32>, tensor<1x64x96xf32>)
                           outs(%fz : tensor<1x48x96xf32>) -> tensor<1x48x96xf32>
  return %z : tensor<1x48x96xf32>
})"),
              ElementsAre("2x48x32x128", "2x48x32x64", "3x48x32x64"));
}

// A product of rows x 64 with 64 x columns, whose right operand is a parameter or an argument.
std::string product(int rows, int columns, bool parameter) {
  const std::string type = fmt::format("tensor<64x{}xf32>", columns);
  const std::string result = fmt::format("tensor<{}x{}xf32>", rows, columns);
  return fmt::format(R"(
util.global private @w = #flow.parameter.named<"w"> : {type}
func.func @main(%x: tensor<{rows}x64xf32>, %given: {type}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %w = util.global.load @w : {type}
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %y = linalg.matmul ins(%x, {w} : tensor<{rows}x64xf32>, {type}) outs(%f : {result}) -> {result}
  return %y : {result}
}})",
                     fmt::arg("type", type), fmt::arg("rows", rows), fmt::arg("result", result),
                     fmt::arg("w", parameter ? "%w" : "%given"));
}

TEST_F(WeightsInBlocks, LeavesWhatIsNoWeightsAndWhatHasNoFullBlocks) {
  EXPECT_THAT(loops_of(product(48, 96, /*parameter=*/true)), ElementsAre("3x48x32x64"));
  EXPECT_THAT(loops_of(product(48, 96, /*parameter=*/false)), ElementsAre("48x96x64"));
  EXPECT_THAT(loops_of(product(48, 80, /*parameter=*/true)), ElementsAre("48x80x64"));
  EXPECT_THAT(loops_of(product(8, 96, /*parameter=*/true)), ElementsAre("8x96x64"));
}

// Row k, column j of the weights is j + k. The sum over 16 rows of 1 * (j + k) is 16 j + 120.
TEST_F(WeightsInBlocks, GivesTheSameProduct) {
  std::vector<std::string> rows, sums;
  for (int k = 0; k < 16; ++k) {
    std::vector<std::string> row;
    for (int j = 0; j < 64; ++j) row.push_back(fmt::format("{}.0", j + k));
    rows.push_back(fmt::format("[{}]", fmt::join(row, ", ")));
  }
  for (int i = 0; i < 16 * 64; ++i) sums.push_back(std::to_string(16 * (i % 64) + 120));
  const auto module = compile_program(compiler(), "main.mlir",
                                      fmt::format(R"(
func.func @main(%x: tensor<16x16xf32>) -> tensor<16x64xf32> {{
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[{}]> : tensor<16x64xf32>
  %e = tensor.empty() : tensor<16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x64xf32>)
                     outs(%f : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}})",
                                                  fmt::join(rows, ", ")),
                                      host_flags_);
  ASSERT_TRUE(module) << module.error().message;
  const std::string path = (folder_.path() / "main.vmfb").string();
  ASSERT_TRUE(write_file_atomically(path, *module));
  const std::string command = fmt::format(
      "{} --device=local-sync --module={} --function=main --input=16x16xf32=1 "
      "'--expected_output=16x64xf32={}' > /dev/null",
      compiler().installation().run_module.string(), path, fmt::join(sums, " "));
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace hone::iree
