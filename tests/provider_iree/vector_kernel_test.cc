#include "provider/iree/vector/vector_kernel.h"

#include <gmock/gmock.h>

#include "provider/iree/vector/vector_provider.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Channels last, 8 x 10 pixels of 5 channels, 3x3 taps, 19 results: image and filter as given.
problem::Dispatch convolution(const std::string& type, const std::string& filter,
                              const std::string& map) {
  const std::string text = fmt::format(
      R"mlir(func.func @f(%x: tensor<8x10x5x{0}>, %w: tensor<{1}x{0}>) -> tensor<6x8x19xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8x19xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6x8x19xf32>) -> tensor<6x8x19xf32>
  %c = linalg.generic {{indexing_maps = [affine_map<(h, w, o, i, j, c) -> (h + i, w + j, c)>,
      affine_map<(h, w, o, i, j, c) -> ({2})>, affine_map<(h, w, o, i, j, c) -> (h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
    ins(%x, %w : tensor<8x10x5x{0}>, tensor<{1}x{0}>) outs(%f : tensor<6x8x19xf32>) {{
  ^bb0(%i: {0}, %j: {0}, %o: f32):
{3}    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> tensor<6x8x19xf32>
  return %c : tensor<6x8x19xf32>
}})mlir",
      type, filter, map,
      type == "f32" ? "    %p = arith.mulf %i, %j : f32\n"
                    : "    %a = arith.extf %i : f16 to f32\n    %b = arith.extf %j : f16 to f32\n"
                      "    %p = arith.mulf %a, %b : f32\n");
  return load("f.mlir", text).dispatches.at(0);
}

std::vector<std::int64_t> sizes(const std::vector<KernelLoop>& loops) {
  std::vector<std::int64_t> found;
  for (const KernelLoop& loop : loops) found.push_back(loop.size);
  return found;
}

TEST(VectorKernel, VectorsLieAlongTheResultsAndRowsShareThem) {
  const problem::Dispatch dispatch = convolution("f32", "3x3x5x19", "i, j, c, o");
  const auto kernel = vector_kernel(dispatch.statement.value());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->along.size, 19);
  EXPECT_THAT(kernel->along.strides, ElementsAre(0, 1, 1));  // image, filter, result
  EXPECT_EQ(kernel->rows.size, 8);
  EXPECT_THAT(kernel->rows.strides, ElementsAre(5, 0, 19));
  EXPECT_THAT(sizes(kernel->outer), ElementsAre(6));
  EXPECT_THAT(sizes(kernel->reduced), ElementsAre(3, 15));  // j and c are one loop
  EXPECT_FALSE(kernel->packed);
  EXPECT_FALSE(kernel->in_place);
}

TEST(VectorKernel, AFilterThatLiesApartIsPacked) {
  const problem::Dispatch dispatch = convolution("f32", "19x3x3x5", "o, i, j, c");
  const auto kernel = vector_kernel(dispatch.statement.value());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->packed, 1u);
  EXPECT_THAT(kernel->along.strides, ElementsAre(0, 45, 1));
  problem::CpuTarget target;
  target.vector_bits = 512;
  target.vector_registers = 32;
  const auto space = VectorProvider(target).space_of(dispatch);
  ASSERT_TRUE(space) << space.error().message;
  const auto index = space->knob_index("rows_first");
  EXPECT_THAT(space->narrowed(*index), ElementsAre(1));
}

TEST(VectorKernel, OtherTypesHaveNone) {
  const problem::Dispatch dispatch = convolution("f16", "3x3x5x19", "i, j, c, o");
  ASSERT_TRUE(dispatch.statement);
  EXPECT_THAT(VectorProvider({}).why_no_space(dispatch), HasSubstr("no operands of f16"));
}

TEST(VectorKernel, CompilesToTheGridOfItsTiles) {
  const problem::Dispatch dispatch = convolution("f32", "3x3x5x19", "i, j, c, o");
  provider::Payload payload;
  payload.json["vector"] = {{"lanes", 8},      {"vectors", 2}, {"rows", 3},        {"steps", 2},
                            {"rows_first", 1}, {"groups", 4},  {"groups_along", 2}};
  const auto text = vector_executable(dispatch.statement, payload, "");
  ASSERT_TRUE(text) << text.error().message;
  PreparedDispatch prepared = prepare(dispatch);
  const auto artifact = prepared.compile_in_its_place(*text);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->launch.entry, dispatch.name);
  // 6 lines of 3 tiles in 4 parts of 5; 19 columns are two tiles of 16.
  EXPECT_THAT(artifact->launch.grid, ElementsAre(4, 2, 1));
  EXPECT_EQ(artifact->format, "embedded-elf-x86_64");
  payload.json["vector"].erase("rows");
  const auto refused = vector_executable(dispatch.statement, payload, "");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has no 'rows'"));
}

}  // namespace
}  // namespace hone::iree
