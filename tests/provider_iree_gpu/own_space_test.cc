// hone's own spaces, where the compiler states none: configurations of them compile.
#include <gmock/gmock.h>

#include "provider/iree/gpu_own_space.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kRowSum[] = R"(
func.func @main(%a: tensor<4096x8192xf32>) -> tensor<4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4096x8192xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
})";

constexpr char kMatvec[] = R"(
func.func @main(%a: tensor<4096x4096xf16>, %b: tensor<4096xf16>) -> tensor<4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.matvec ins(%a, %b : tensor<4096x4096xf16>, tensor<4096xf16>)
      outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
})";

// Ten random configurations, each compiled in a child; their failures.
std::vector<std::string> failures(const std::string& program, const std::string& arch) {
  const problem::GpuTarget target = *problem::gpu_target(arch);
  const auto dispatch = dispatch_of(program, arch);
  const auto space = gpu_own_space(dispatch.root, target);
  if (!space) return {space.error().message};
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
  if (!prepared) return {prepared.error().message};
  std::vector<std::string> all;
  const auto samples = space->samples(10, 5);
  for (const space::Configuration& sample : *samples) {
    const auto attributes = gpu_own_attributes(dispatch.root, target, *space, sample);
    const std::string failure =
        attributes ? compile_in_child(*prepared, *attributes) : attributes.error().message;
    if (!failure.empty()) all.push_back(to_string(*space, sample) + ": " + failure);
  }
  return all;
}

class OwnSpace : public ::testing::TestWithParam<std::string> {};

TEST_P(OwnSpace, OfABatchMatmulCompiles) {
  EXPECT_THAT(failures(batch_matmul(12, 128, 128, 64), GetParam()), IsEmpty());
}
TEST_P(OwnSpace, OfARowSumCompiles) {
  EXPECT_THAT(failures(kRowSum, GetParam()), IsEmpty());
}
TEST_P(OwnSpace, OfAProductWithAVectorCompiles) {
  EXPECT_THAT(failures(kMatvec, GetParam()), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Targets, OwnSpace, ::testing::Values("gfx942", "sm_80"),
                         [](const auto& each) { return std::string(each.param); });

TEST(OwnSpaceOfAnF32Matmul, Compiles) {
  EXPECT_THAT(failures(matmul(512, 512, 256, "f32"), "sm_80"), IsEmpty());
}

TEST(OwnSpaceOfSoftmax, IsNotThere) {
  problem::Operation softmax;
  softmax.kind = problem::OperationKind::kOther;
  softmax.name = "linalg.softmax";
  EXPECT_THAT(why_no_own_space(softmax, *problem::gpu_target("sm_80")),
              HasSubstr("hone has spaces of its own only for"));
}

}  // namespace
}  // namespace hone::iree::gpu
