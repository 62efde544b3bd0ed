// hone's own spaces, where the compiler states none: configurations of them compile.
#include <gmock/gmock.h>

#include <tuple>

#include "provider/iree/gpu/space.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One problem on one target, by their positions.
class OwnSpace : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(OwnSpace, OfTenSamplesEachCompilesToCodeOfItsOwn) {
  const auto [arch, which] = GetParam();
  const Problem problem = small_own_problems().at(static_cast<std::size_t>(which));
  const auto dispatch = dispatch_of(problem.program, arch);
  const auto space = gpu_own_space(dispatch.root, *problem::gpu_target(arch));
  ASSERT_TRUE(space) << space.error().message;
  std::vector<std::string> failures;
  std::set<std::string> different;
  for (const Compiled& each : compile_samples(dispatch, arch, *space, 10, 5)) {
    different.insert(each.identity);
    if (!each.failure.empty())
      failures.push_back(to_string(*space, each.configuration) + ": " + each.failure);
  }
  EXPECT_THAT(failures, IsEmpty()) << arch << " " << problem.name;
  // Some lower to the same code, not all of them, and not to the compiler's own.
  different.erase(default_identity(dispatch, arch));
  EXPECT_GT(different.size(), 4u);
}
INSTANTIATE_TEST_SUITE_P(Targets, OwnSpace,
                         ::testing::Combine(::testing::Values("gfx942", "sm_80"),
                                            ::testing::Range(0, 8)));

std::vector<std::string> knobs(const problem::Dispatch& dispatch, const std::string& arch) {
  const auto space = gpu_own_space(dispatch.root, *problem::gpu_target(arch));
  if (!space) return {space.error().message};
  std::vector<std::string> names;
  for (const space::Knob& knob : space->knobs()) names.push_back(knob.name);
  return names;
}

TEST(OwnSpaceOfRows, LetsSubgroupsAndLanesHaveRowsOfTheirOwn) {
  EXPECT_THAT(knobs(dispatch_of(matvec(1024, 2048), "sm_80"), "sm_80"),
              ElementsAre("pipeline", "rows", "row_subgroups", "subgroups", "lanes", "vector",
                          "steps", "wg_0", "threads", "red_1"));
}

std::vector<std::string> broken(const space::Space& space, int rows, int subgroups, int lanes) {
  const auto configuration = space::parse_configuration(
      space, fmt::format("pipeline=0,rows={},row_subgroups=1,subgroups={},lanes={},vector=4,"
                         "steps=1,wg_0=0,threads=0,red_1=0",
                         rows, subgroups, lanes));
  if (!configuration) return {configuration.error().message};
  std::vector<std::string> names;
  for (const auto& each : space.check(*configuration)) names.push_back(each.constraint);
  return names;
}

// On an H200 328 of 2,922 sums of rows were wrong: those with more subgroups than lanes to a row,
// and no others. Likewise 23 of 193 softmaxes.
TEST(OwnSpaceOfRows, HasNoMoreSubgroupsThanLanesToAddUpASum) {
  for (const std::string& program : {row_sum(4096, 4096), softmax(4096, 4096)}) {
    const auto dispatch = dispatch_of(program, "sm_80");
    const auto space = gpu_own_space(dispatch.root, *problem::gpu_target("sm_80"));
    ASSERT_TRUE(space) << space.error().message;
    EXPECT_THAT(broken(*space, 8, 8, 8), IsEmpty());
    EXPECT_THAT(broken(*space, 8, 16, 8), ElementsAre("lanes add up the subgroups"));
    EXPECT_THAT(broken(*space, 8, 32, 16), ElementsAre("lanes add up the subgroups"));
  }
}

// 401 of 407 sums of 4099 rows were wrong on an H200 with several rows to a workgroup, none of the
// others.
TEST(OwnSpaceOfRows, TakesRowsOfAnOpenExtentOneByOne) {
  auto root = dispatch_of(row_sum(4096, 4096), "sm_80").root;
  root.loops[0].open = true;
  const auto space = gpu_own_space(root, *problem::gpu_target("sm_80"));
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_THAT(broken(*space, 1, 1, 32), IsEmpty());
  EXPECT_THAT(broken(*space, 8, 1, 32), ElementsAre("rows of an open extent one by one"));
}

// 41 of 41 configurations gave kernels that did not end on an H200.
TEST(OwnSpaceOfProducts, HasNoneForAnOpenK) {
  const problem::GpuTarget target = *problem::gpu_target("sm_80");
  auto root = dispatch_of(matmul(512, 1024, 512), "sm_80").root;
  EXPECT_EQ(why_no_own_space(root, target), "");
  root.loops[2].open = true;
  EXPECT_THAT(why_no_own_space(root, target), HasSubstr("does not end"));
  EXPECT_FALSE(gpu_own_space(root, target));
}

// 77 columns are no whole loads of a subgroup: one thread goes along a row.
TEST(OwnSpaceOfSoftmax, GoesByOutputsWhereRowsCannotBeShared) {
  const auto dispatch = dispatch_of(softmax(256, 77), "sm_80");
  const auto space = gpu_own_space(dispatch.root, *problem::gpu_target("sm_80"));
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_THAT(knobs(dispatch, "sm_80"), ElementsAre("wg_0", "vector", "threads", "red_1"));
  for (const Compiled& each : compile_samples(dispatch, "sm_80", *space, 10, 5))
    EXPECT_EQ(each.failure, "") << to_string(*space, each.configuration);
}

TEST(OwnSpaceOfSoftmax, GivesEveryPartTheLayoutOfTheRoot) {
  const auto dispatch = dispatch_of(softmax(256, 512), "sm_80");
  EXPECT_EQ(dispatch.root.name, "linalg.softmax");
  const problem::GpuTarget target = *problem::gpu_target("sm_80");
  const auto space = gpu_own_space(dispatch.root, target);
  const auto configuration = space::parse_configuration(
      *space,
      "pipeline=0,rows=4,row_subgroups=2,subgroups=2,lanes=16,vector=4,steps=1,wg_0=0,threads=0,"
      "red_1=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_THAT(space->check(*configuration), IsEmpty());
  const auto attributes = gpu_own_attributes(dispatch.root, target, *space, *configuration);
  ASSERT_TRUE(attributes);
  // 2 x 2 subgroups of 2 x 16 lanes; 2 x 16 x 4 columns at once.
  constexpr char kLayout[] =
      "lane_basis = [[2, 16], [0, 1]], subgroup_basis = [[2, 2], [0, 1]], thread = [0, 4]}>";
  EXPECT_EQ(attributes->lowering_config,
            std::string("#iree_gpu.lowering_config<{partial_reduction = [0, 128], "
                        "workgroup = [4, 0], ") +
                kLayout);
  EXPECT_EQ(attributes->sibling_reduction_config,
            std::string("#iree_gpu.lowering_config<{partial_reduction = [0, 128], ") + kLayout);
  EXPECT_EQ(attributes->sibling_config,
            std::string("#iree_gpu.lowering_config<{serial = [0, 128], ") + kLayout);
  EXPECT_THAT(attributes->translation_info, HasSubstr("workgroup_size = [128, 1, 1]"));
}

TEST(OwnSpaceOfAttention, CompilesOnNvidia) {
  const auto dispatch = dispatch_of(attention(4, 512, 64), "sm_80");
  EXPECT_THAT(knobs(dispatch, "sm_80"),
              ElementsAre("wg_m", "wg_n", "red_k2", "subgroups", "share_q"));
}

// 64 queries of 64 halves, padded by 4: 8704 bytes, and as many for 64 keys and values.
TEST(OwnSpaceOfAttention, CountsTheSharedMemoryOfItsTiles) {
  const auto dispatch = dispatch_of(attention(4, 512, 64), "sm_80");
  const problem::GpuTarget target = *problem::gpu_target("sm_80");
  const auto space = gpu_own_space(dispatch.root, target);
  const auto configuration =
      space::parse_configuration(*space, "wg_m=64,wg_n=64,red_k2=64,subgroups=4,share_q=1");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto attributes = gpu_own_attributes(dispatch.root, target, *space, *configuration);
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("sm_80"));
  const auto artifact = prepared->compile(*attributes);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->launch.shared_bytes, 3 * 8704u);
  EXPECT_THAT(artifact->launch.block, ElementsAre(128, 1, 1));
  EXPECT_THAT(artifact->launch.grid, ElementsAre(4 * 512 / 64, 1, 1));
}

TEST(OwnSpaceOfAnF32Matmul, Compiles) {
  const auto dispatch = dispatch_of(matmul(512, 512, 256, "f32"), "sm_80");
  const auto space = gpu_own_space(dispatch.root, *problem::gpu_target("sm_80"));
  for (const Compiled& each : compile_samples(dispatch, "sm_80", *space, 10, 5))
    EXPECT_EQ(each.failure, "") << to_string(*space, each.configuration);
}

// 100 x 72 x 40 is no whole number of 16 x 8 x 16 instructions: the tiles are padded.
TEST(OwnSpaceOfABatchMatmul, PadsWhatIsNoWholeInstruction) {
  const auto dispatch = dispatch_of(batch_matmul(4, 100, 72, 40), "sm_80");
  const auto space = gpu_own_space(dispatch.root, *problem::gpu_target("sm_80"));
  ASSERT_TRUE(space) << space.error().message;
  for (const Compiled& each : compile_samples(dispatch, "sm_80", *space, 10, 5))
    EXPECT_EQ(each.failure, "") << to_string(*space, each.configuration);
}

TEST(OwnSpaceOfAGather, IsNotThere) {
  problem::Operation gather;
  gather.kind = problem::OperationKind::kOther;
  gather.name = "iree_linalg_ext.gather";
  EXPECT_THAT(why_no_own_space(gather, *problem::gpu_target("sm_80")),
              HasSubstr("hone has spaces of its own only for"));
}

}  // namespace
}  // namespace hone::iree::gpu
