// What the compiler states about dispatches on GPUs, and the spaces that hone makes of it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "provider/iree/gpu/space.h"
#include "provider/iree/gpu/stated_additions.h"
#include "provider/iree/gpu/stated_space.h"
#include "provider/resources.h"
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
      "wg_size_z=1,prefetch_num_stages=2,mma_idx=0,waves_per_eu=0,pad_shared_memory=1,"
      "flush_denormals=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto broken = space.parts()[0].check(*configuration);
  ASSERT_FALSE(broken.empty());
  EXPECT_EQ(broken[0].constraint, "dim_0 must be divisible by wg_0");
  EXPECT_THAT(broken[0].reason, HasSubstr("dim_0 must be divisible by wg_0 (256 % 48 == 0)"));
}

// stated_additions.cc finds what its rules build on by these words: without them the rules would be
// gone without a word.
TEST(StatedConstraints, AreWordedAsTheRulesLookForThem) {
  const auto says = [](const StatedSpace& stated, std::string_view words) {
    for (const StatedSet& set : stated)
      for (const StatedAssertion& assertion : set.assertions)
        if (assertion.message.find(words) != std::string::npos) return true;
    return false;
  };
  const StatedSpace product = stated(dispatch_of(matmul(256, 256, 128), "gfx942"), "gfx942");
  EXPECT_TRUE(says(product, "shared memory must fit"));
  EXPECT_TRUE(says(product, "dim_0 must be divisible by wg_0"));
  EXPECT_TRUE(says(stated(dispatch_of(convolution(false, 1, 16, 64, 64), "gfx942"), "gfx942"),
                   "use_igemm_idx == 1"));
  EXPECT_TRUE(
      says(stated(dispatch_of(attention(4, 512, 64), "gfx942"), "gfx942"), "qk_mma_n == pv_mma_n"));
}

TEST(StatedConstraints, TagGuessesAboutSpeedAsSoft) {
  const auto dispatch = dispatch_of(matmul(256, 256, 128), "gfx942");
  const space::Space space = space_on(dispatch, stated(dispatch, "gfx942"), "gfx942");
  std::vector<std::string> soft;
  for (const space::Constraint& constraint : space.parts()[1].constraints())
    if (constraint.hardness == space::Hardness::kSoft) soft.push_back(constraint.name);
  EXPECT_THAT(soft,
              ElementsAre("wg_0 <= 512", "wg_1 <= 512", "red_2 <= 512", "sg_num <= 10",
                          "prefetch_num_stages == 2", "sums and operands fit in registers",
                          "waves_per_eu == 0", "pad_shared_memory == 1", "flush_denormals == 0"));
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
  set.terms = {StatedTerm{.kind = StatedTermKind::kKnob, .name = "a"},
               StatedTerm{.kind = StatedTermKind::kAdd, .operands = {0, 7}}};
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
      "wg_size_z=1,prefetch_num_stages=2,mma_idx=1,waves_per_eu=0,pad_shared_memory=1,"
      "flush_denormals=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto broken = distribute.check(*configuration);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].constraint, "threads cover the copied tile");
  EXPECT_THAT(broken[0].reason, HasSubstr("input 1: 64 threads must cover its tile of 64x320"));
  // The compiler says so too.
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("gfx942"));
  Attributes attributes;
  attributes.statement = 1;
  for (const space::Knob& knob : distribute.knobs())
    if (!is_own_knob(knob.name))
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

space::Space space_of_program(const std::string& program, const std::string& arch) {
  const auto space = gpu_space(stated_dispatch(program, arch), *problem::gpu_target(arch));
  if (!space) throw std::runtime_error(space.error().message);
  return *space;
}

std::vector<std::string> broken(const space::Space& space, const std::string& text) {
  const auto configuration = space::parse_configuration(space, text);
  if (!configuration) return {configuration.error().message};
  std::vector<std::string> names;
  for (const space::Violation& each : space.check(*configuration)) names.push_back(each.constraint);
  return names;
}

// LLVM 24 dies of the first ("Cannot select: v2i16,v2i16 = umul_lohi"); IREE leaves an operation of
// the second unbuffered; the third has 79872 bytes of inputs and 163840 of outputs.
TEST(StatedRules, KeepImplicitGemmsWithChannelsFirstFromWhatNvidiasCodeGeneratorFailsAt) {
  const space::Space space = space_of_program(convolution(true, 2, 32, 1280, 1280), "sm_80");
  const space::Space& implicit = space.parts().at(1);
  const auto soft = implicit.relax({"all"});
  ASSERT_TRUE(soft);
  constexpr char kRest[] =
      "sg_size=32,wg_size_y=1,wg_size_z=1,prefetch_num_stages=0,use_igemm_idx=1,mma_idx=0,";
  EXPECT_THAT(broken(*soft, std::string(kRest) +
                                "wg_0=1,wg_2=2,wg_3=32,wg_1=8,sg_0=1,sg_2=1,sg_3=1,sg_1=1,red_4=5,"
                                "wg_size_x=128"),
              ElementsAre("channels first: 16 columns"));
  EXPECT_THAT(broken(*soft, std::string(kRest) +
                                "wg_0=1,wg_2=8,wg_3=32,wg_1=80,sg_0=1,sg_2=8,sg_3=2,sg_1=2,red_4=5,"
                                "wg_size_x=160"),
              ElementsAre("channels first: threads"));
  EXPECT_THAT(broken(*soft, std::string(kRest) +
                                "wg_0=1,wg_2=8,wg_3=32,wg_1=160,sg_0=1,sg_2=4,sg_3=2,sg_1=20,"
                                "red_4=6,wg_size_x=64"),
              ElementsAre("channels first: result in shared memory"));
  // Two subgroups along the columns: the result stays in registers.
  EXPECT_THAT(broken(*soft, std::string(kRest) +
                                "wg_0=1,wg_2=8,wg_3=32,wg_1=160,sg_0=1,sg_2=4,sg_3=2,sg_1=10,"
                                "red_4=6,wg_size_x=128"),
              ElementsAre());
}

TEST(StatedRules, LeaveOutTheDirectFormThatIsWrongOnNvidia) {
  const space::Space space = space_of_program(convolution(true, 2, 32, 1280, 1280), "sm_80");
  ASSERT_EQ(space.parts().size(), 3u);
  EXPECT_TRUE(space.parts().at(0).empty());
  EXPECT_FALSE(space.parts().at(1).empty());  // the implicit form
  EXPECT_TRUE(space.parts().at(2).empty());
}

TEST(StatedRules, AreOnlyForWhatTheyWereFoundAt) {
  for (const auto& [program, arch] : {std::pair{convolution(false, 2, 32, 1280, 1280), "sm_80"},
                                      std::pair{convolution(true, 2, 32, 1280, 1280), "gfx942"}}) {
    const space::Space space = space_of_program(program, arch);
    for (const space::Constraint& each : space.constraints())
      EXPECT_THAT(each.name, ::testing::Not(HasSubstr("channels first"))) << arch;
  }
}

TEST(StatedRules, CanBeAuditedOneByOne) {
  const auto dispatch = stated_dispatch(matmul(512, 768, 256), "gfx942");
  const problem::GpuTarget target = *problem::gpu_target("gfx942");
  const auto outside = gpu_space(dispatch, target, kCopyLayoutRule);
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_TRUE(outside->parts().at(0).empty());  // TileAndFuse has no such rule
  EXPECT_FALSE(outside->parts().at(1).empty());
  // Whatever breaks the rule breaks nothing else, and nothing that keeps it is there.
  const auto usual = gpu_space(dispatch, target);
  const auto samples = outside->samples(20, 1);
  ASSERT_TRUE(samples);
  for (const space::Configuration& each : *samples) {
    std::vector<std::string> names;
    for (const space::Violation& violation : usual->check(each))
      names.push_back(violation.constraint);
    EXPECT_THAT(names, ::testing::Each(std::string(kCopyLayoutRule)));
    EXPECT_FALSE(names.empty());
  }
  const auto none = gpu_space(dispatch, target, "no such rule");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("threads cover the copied tile"));
}

// Knobs of hone's own leave the compiler's counts as they are until their soft rules are dropped.
TEST(OwnKnobs, AreAddedOnAmd) {
  const auto dispatch = stated_dispatch(matmul(256, 256, 128), "gfx942");
  const problem::GpuTarget target = *problem::gpu_target("gfx942");
  const auto space = gpu_space(dispatch, target);
  ASSERT_TRUE(space);
  const auto relaxed =
      space->relax({"waves_per_eu == 0", "pad_shared_memory == 1", "flush_denormals == 0"});
  ASSERT_TRUE(relaxed) << relaxed.error().message;
  EXPECT_EQ(relaxed->count().value, 4 * 2 * 2 * space->count().value);
  EXPECT_FALSE(space_of_program(matmul(256, 256, 128), "sm_80").knob_index("waves_per_eu"));
}

TEST(OwnKnobs, ChangeTheTranslationInfoThatTheCompilerMade) {
  const auto dispatch = stated_dispatch(matmul(256, 256, 128), "gfx942");
  const problem::GpuTarget target = *problem::gpu_target("gfx942");
  const space::Space space = *gpu_space(dispatch, target)->relax({"all"});
  const auto usual = space.samples(1, 3);
  ASSERT_TRUE(usual);
  auto attributes = *gpu_attributes(dispatch, target, space, usual->front());
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("gfx942"));
  std::vector<provider::Artifact> made;
  for (const auto& [waves, padded, flushed] :
       {std::tuple{0, 1, 0}, std::tuple{2, 1, 0}, std::tuple{0, 0, 0}, std::tuple{0, 1, 1}}) {
    attributes.options = {
        {"waves_per_eu", waves}, {"pad_shared_memory", padded}, {"flush_denormals", flushed}};
    const auto artifact = prepared->compile(attributes);
    ASSERT_TRUE(artifact) << artifact.error().message;
    made.push_back(*artifact);
  }
  EXPECT_THAT(made_texts_from(made[0].more)->translation, ::testing::Not(HasSubstr("waves")));
  EXPECT_THAT(made_texts_from(made[1].more)->translation,
              HasSubstr("llvm_func_attrs = {\"amdgpu-waves-per-eu\" = \"2\"}"));
  EXPECT_THAT(made_texts_from(made[2].more)->translation,
              HasSubstr("no_reduce_shared_memory_bank_conflicts = true"));
  EXPECT_THAT(made_texts_from(made[0].more)->translation, ::testing::Not(HasSubstr("denormal")));
  EXPECT_THAT(made_texts_from(made[3].more)->translation,
              HasSubstr("iree_codegen.denormal_fp_math_f32 = "
                        "#iree_codegen.denormal_fp_math<\"preserve-sign\">"));
  // Without padding rows take less of the shared memory.
  const auto bytes = [](const provider::Artifact& artifact) {
    return provider::hsaco_resources(artifact.code, artifact.launch.entry)->shared_bytes;
  };
  EXPECT_LT(bytes(made[2]), bytes(made[0]));
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
