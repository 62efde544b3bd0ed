// What the compiler states about dispatches on GPUs, and the spaces that hone makes of it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "provider/iree/stated_space.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> pipelines(const StatedSpace& stated) {
  std::vector<std::string> names;
  for (const StatedSet& set : stated) names.push_back(set.pipeline);
  return names;
}

space::Space space_on(const problem::Dispatch& dispatch, const StatedSpace& stated,
                      const std::string& arch) {
  auto space = space_of(stated, dispatch.root, *problem::gpu_target(arch));
  if (!space) throw std::runtime_error(space.error().message);
  return std::move(*space);
}

TEST(StatedConstraints, OfAMatmulAreTwoPipelines) {
  const StatedSpace stated = gpu::stated(dispatch_of(matmul(256, 256, 128), "gfx942"), "gfx942");
  EXPECT_THAT(pipelines(stated), ElementsAre("TileAndFuse", "VectorDistribute"));
  std::vector<std::string> knobs;
  for (const StatedKnob& knob : stated[0].knobs) knobs.push_back(knob.name);
  EXPECT_THAT(knobs, ElementsAre("wg_0", "wg_1", "sg_0", "sg_1", "red_2", "sg_size", "wg_size_x",
                                 "wg_size_y", "wg_size_z", "prefetch_num_stages", "mma_idx"));
  EXPECT_THAT(stated[0].knobs.back().options,
              ElementsAre("#iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>",
                          "#iree_gpu.mma_layout<MFMA_F32_32x32x8_F16>"));
}

TEST(StatedConstraints, OfAConvolutionHaveTheImplicitGemmBesideTheDirectForm) {
  const auto dispatch = dispatch_of(convolution(false, 1, 16, 64, 64), "gfx942");
  EXPECT_THAT(pipelines(stated(dispatch, "gfx942")),
              ElementsAre("TileAndFuse", "TileAndFuse", "VectorDistribute"));
}

TEST(StatedConstraints, OfAttentionFindTheNestedKnobs) {
  const StatedSpace stated = gpu::stated(dispatch_of(attention(4, 512, 64), "gfx942"), "gfx942");
  ASSERT_THAT(pipelines(stated), ElementsAre("VectorDistribute"));
  int choices = 0;
  for (const StatedKnob& knob : stated[0].knobs)
    if (knob.name == "qk_mma_idx" || knob.name == "pv_mma_idx") {
      EXPECT_EQ(knob.options.size(), 4u);
      ++choices;
    }
  EXPECT_EQ(choices, 2);
}

TEST(StatedConstraints, AreNotThereForEveryOperation) {
  EXPECT_THAT(stated(dispatch_of(attention(4, 512, 64), "sm_80"), "sm_80"), IsEmpty());
  EXPECT_THAT(stated(dispatch_of(matmul(256, 256, 128, "f32"), "sm_80"), "sm_80"), IsEmpty());
}

// The compiler dies when it is asked about a batch matmul.
TEST(StatedConstraints, AreAskedForInAChild) {
  const auto dispatch = dispatch_of(batch_matmul(4, 128, 128, 64), "sm_80");
  EXPECT_FALSE(states_constraints(compiler(), "dispatch", dispatch.source, flags_for("sm_80")));
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("sm_80"));
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_TRUE(prepared->compile(std::nullopt));
}

TEST(StatedConstraints, KeepTheCompilersWords) {
  const auto dispatch = dispatch_of(matmul(256, 256, 128), "gfx942");
  const space::Space space = space_on(dispatch, stated(dispatch, "gfx942"), "gfx942");
  const auto configuration = space::parse_configuration(
      space.parts()[0],
      "wg_0=48,wg_1=64,sg_0=1,sg_1=2,red_2=1,sg_size=64,wg_size_x=128,wg_size_y=1,"
      "wg_size_z=1,prefetch_num_stages=2,mma_idx=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto broken = space.parts()[0].check(*configuration);
  ASSERT_FALSE(broken.empty());
  EXPECT_EQ(broken[0].constraint, "dim_0 must be divisible by wg_0");
  EXPECT_THAT(broken[0].reason, HasSubstr("dim_0 must be divisible by wg_0 (256 % 48 == 0)"));
}

TEST(StatedConstraints, TagGuessesAboutSpeedAsSoft) {
  const auto dispatch = dispatch_of(matmul(256, 256, 128), "gfx942");
  const space::Space space = space_on(dispatch, stated(dispatch, "gfx942"), "gfx942");
  std::vector<std::string> soft;
  for (const space::Constraint& constraint : space.parts()[1].constraints())
    if (constraint.hardness == space::Hardness::kSoft) soft.push_back(constraint.name);
  EXPECT_THAT(soft, ElementsAre("wg_0 <= 512", "wg_1 <= 512", "red_2 <= 512", "sg_num <= 10",
                                "prefetch_num_stages == 2", "sums and operands fit in registers"));
  EXPECT_GT(space.relax({"prefetch_num_stages == 2"})->count().value, space.count().value);
}

TEST(StatedConstraints, SurviveTheWayToTheTuner) {
  const auto dispatch = dispatch_of(matmul(256, 256, 128), "gfx942");
  const StatedSpace stated = gpu::stated(dispatch, "gfx942");
  const auto sent = nlohmann::json(stated).dump();
  const auto received = nlohmann::json::parse(sent).get<StatedSpace>();
  EXPECT_EQ(nlohmann::json(received).dump(), sent);
  EXPECT_EQ(space_on(dispatch, received, "gfx942").count().value,
            space_on(dispatch, stated, "gfx942").count().value);
}

TEST(StatedConstraints, RefuseTermsThatFollowFromNothing) {
  StatedSet set;
  set.terms = {Term{.kind = TermKind::kKnob, .name = "a"},
               Term{.kind = TermKind::kAdd, .operands = {0, 7}}};
  EXPECT_FALSE(space_builder(set));
  set.terms[1].operands = {0, -1};
  EXPECT_FALSE(space_builder(set));
  set.terms.pop_back();
  set.assertions = {{3, "a is there", {}}};
  EXPECT_FALSE(space_builder(set));
}

// Counts of the whole spaces, as IREE 3.13 states them; z3_test.cc checks such counts against z3.
TEST(StatedConstraints, GiveSpacesOfKnownSize) {
  struct Known {
    const char* arch;
    std::string program;
    std::vector<std::uint64_t> counts;
  };
  const Known known[] = {
      {"gfx942", matmul(2048, 10240, 1280), {2692, 1009}},
      {"gfx942", convolution(false, 2, 32, 1280, 1280), {9284, 14146, 184}},
      {"gfx942", convolution(true, 2, 32, 1280, 1280), {9284, 14146, 184}},
      {"gfx942", attention(20, 4096, 64), {162}},
      {"sm_80", matmul(2048, 10240, 1280), {3249, 2150}},
      {"sm_80", convolution(false, 2, 32, 1280, 1280), {15517, 27417, 397}},
  };
  for (const auto& [arch, program, counts] : known) {
    std::vector<std::uint64_t> found;
    for (const StatedSet& set : stated(dispatch_of(program, arch), arch))
      found.push_back(space_builder(set)->build()->count().value);
    EXPECT_EQ(found, counts) << arch;
  }
}

// 40 groups of 8 columns are neither a divisor nor a multiple of 64 threads.
TEST(StatedRules, KeepTheThreadsThatCopyATileFromHavingARest) {
  const auto dispatch = dispatch_of(matmul(2048, 10240, 1280), "gfx942");
  const space::Space space = space_on(dispatch, stated(dispatch, "gfx942"), "gfx942");
  const space::Space& distribute = space.parts()[1];
  const auto configuration = space::parse_configuration(
      distribute,
      "wg_0=64,wg_1=320,red_2=64,sg_m_cnt=1,sg_n_cnt=1,sg_size=64,wg_size_x=64,wg_size_y=1,"
      "wg_size_z=1,prefetch_num_stages=2,mma_idx=1");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto broken = distribute.check(*configuration);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].constraint, "threads cover the copied tile");
  EXPECT_THAT(broken[0].reason, HasSubstr("input 1: 64 threads must cover its tile of 64x320"));
  // The compiler says so too.
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("gfx942"));
  provider::Attributes attributes;
  attributes.statement = 1;
  for (const space::Knob& knob : distribute.knobs())
    attributes.knobs[knob.name] = *distribute.value(*configuration, knob.name);
  const auto artifact = prepared->compile(attributes);
  ASSERT_FALSE(artifact);
  EXPECT_THAT(artifact.error().message,
              HasSubstr("failed to derive layout for promoted read-like op"));
}

// IREE's table gives sm_86 163 KiB of shared memory; the device has 99.
TEST(StatedRules, KeepToTheSharedMemoryOfTheDevice) {
  const auto dispatch = dispatch_of(matmul(2048, 10240, 1280), "sm_86");
  const StatedSpace stated = gpu::stated(dispatch, "sm_86");
  EXPECT_LT(space_on(dispatch, stated, "sm_86").count().value,
            space_on(dispatch, stated, "sm_80").count().value);
}

// 256 x 256 sums of 4 bytes by 128 threads are 512 registers of each; it may have 255.
TEST(StatedRules, PreferTilesThatFitInRegisters) {
  const auto dispatch = dispatch_of(matmul(2048, 10240, 1280), "sm_80");
  const space::Space space = space_on(dispatch, stated(dispatch, "sm_80"), "sm_80");
  const space::Space& fuse = space.parts()[0];
  const auto configuration = space::parse_configuration(
      fuse,
      "wg_0=256,wg_1=256,sg_0=8,sg_1=16,red_2=2,sg_size=32,wg_size_x=128,wg_size_y=1,"
      "wg_size_z=1,prefetch_num_stages=2,mma_idx=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto broken = fuse.check(*configuration);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].constraint, "sums and operands fit in registers");
  EXPECT_EQ(space.count().value, 2435u);
  EXPECT_EQ(space.relax({"sums and operands fit in registers"})->count().value, 4282u);
}

// One problem on one target, by their positions: a compile takes a second on a busy machine.
class CompileShare : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(CompileShare, OfTenSamplesEachCompiles) {
  const auto [arch, which] = GetParam();
  const Problem problem = small_problems().at(static_cast<std::size_t>(which));
  const auto dispatch = stated_dispatch(problem.program, arch);
  const auto space = gpu_space(dispatch, *problem::gpu_target(arch));
  ASSERT_TRUE(space) << space.error().message;
  std::vector<std::string> failures;
  for (const Compiled& each : compile_samples(dispatch, arch, *space, 10, 3))
    if (!each.failure.empty())
      failures.push_back(to_string(*space, each.configuration) + ": " + each.failure);
  EXPECT_THAT(failures, IsEmpty()) << arch << " " << problem.name;
}
INSTANTIATE_TEST_SUITE_P(Targets, CompileShare,
                         ::testing::Combine(::testing::Values("gfx942", "sm_80"),
                                            ::testing::Range(0, 5)));

}  // namespace
}  // namespace hone::iree::gpu
