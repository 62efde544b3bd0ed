// Compiling dispatches for GPUs: what is launched, and what makes code equal.
#include <gmock/gmock.h>

#include "provider/code_object_metadata.h"
#include "provider/iree/gpu/executable.h"
#include "provider/resources.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

using provider::FailureKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PreparedDispatch prepared_for(const std::string& program, const std::string& arch) {
  auto prepared =
      PreparedDispatch::create(compiler(), dispatch_of(program, arch).source, flags_for(arch));
  if (!prepared) throw std::runtime_error(prepared.error().message);
  return std::move(*prepared);
}

TEST(PreparedGpuDispatch, GivesPtxAndHowItIsLaunched) {
  const auto artifact = prepared_for(matmul(2048, 10240, 1280), "sm_80").compile(std::nullopt);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->format, "cuda-ptx");
  EXPECT_THAT(artifact->code, HasSubstr(".target sm_80"));
  EXPECT_EQ(artifact->launch.entry, "main_dispatch_0_matmul_2048x10240x1280_f16xf16xf32");
  // Tiles of 128 x 64: 16 x 160 workgroups.
  EXPECT_THAT(artifact->launch.grid, ElementsAre(2560, 1, 1));
  EXPECT_THAT(artifact->launch.block, ElementsAre(128, 1, 1));
  // 128 x 32 and 32 x 64 f16 values, rows padded by 8 bytes: 128 * 72 + 32 * 136.
  EXPECT_EQ(artifact->launch.shared_bytes, 13568u);
}

TEST(PreparedGpuDispatch, GivesACodeObjectWithItsResources) {
  const auto artifact = prepared_for(matmul(2048, 10240, 1280), "gfx942").compile(std::nullopt);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->format, "rocm-hsaco");
  EXPECT_THAT(artifact->launch.grid, ElementsAre(1280, 1, 1));  // tiles of 128 x 128
  EXPECT_THAT(artifact->launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(artifact->launch.shared_bytes, 0u);  // LDS is static
  const auto resources = provider::hsaco_resources(artifact->code, artifact->launch.entry);
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->subgroup_size, 64);
  EXPECT_EQ(resources->spills, 0);
  EXPECT_EQ(resources->shared_bytes, 17664);
  EXPECT_GT(resources->registers, 64);  // of 128 x 128 results each of 256 threads holds 64
  EXPECT_FALSE(provider::hsaco_resources(artifact->code, "another"));
  // Its launch: three addresses, at most 256 threads.
  const auto kernels = provider::code_object_kernels(artifact->code);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, artifact->launch.entry);
  EXPECT_EQ(kernels[0].kernarg_bytes, 24);
  EXPECT_EQ(kernels[0].most_threads, 256);
  EXPECT_EQ(kernels[0].subgroup_size, 64);
  EXPECT_EQ(kernels[0].shared_bytes, 17664);
  ASSERT_EQ(kernels[0].arguments.size(), 3u);
  EXPECT_EQ(kernels[0].arguments[2].offset, 16);
  EXPECT_TRUE(kernels[0].arguments[2].address);
}

TEST(PreparedGpuDispatch, ReadsNothingOutsideOfDamagedCode) {
  const auto artifact = prepared_for(matmul(256, 256, 128), "gfx942").compile(std::nullopt);
  ASSERT_TRUE(artifact) << artifact.error().message;
  for (std::size_t size = 0; size < artifact->code.size(); size += 61)
    (void)provider::hsaco_resources(std::string_view(artifact->code).substr(0, size),
                                    artifact->launch.entry);
  std::string damaged = artifact->code;
  for (std::size_t at = 0; at < damaged.size(); at += 7) {
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    (void)provider::hsaco_resources(damaged, artifact->launch.entry);
    (void)provider::code_object_kernels(damaged);
  }
}

TEST(GpuExecutable, RefusesWhatIsNone) {
  EXPECT_FALSE(gpu_kernel("", 0));
  EXPECT_FALSE(gpu_kernel(std::string(200, '\0'), 0));
  std::string header = "CDA1" + std::string(60, '\0');
  header[8] = 100;  // says 100 bytes follow
  const auto short_of = gpu_kernel(header, 0);
  ASSERT_FALSE(short_of);
  EXPECT_THAT(short_of.error().message, HasSubstr("says more than there is"));
  // Offsets that point outside, in every place.
  for (int seed = 0; seed < 256; ++seed) {
    std::string bytes = "HIP1" + std::string(60, '\0') + std::string(96, static_cast<char>(seed));
    bytes[8] = 96;
    EXPECT_FALSE(gpu_kernel(bytes, 0));
  }
}

TEST(PreparedGpuDispatch, TakesTheConfigurationThatTheCompilerMakesOfKnobs) {
  PreparedDispatch prepared = prepared_for(matmul(2048, 10240, 1280), "gfx942");
  Attributes attributes;
  attributes.statement = 0;
  attributes.knobs = {{"wg_0", 64},       {"wg_1", 128},
                      {"sg_0", 2},        {"sg_1", 4},
                      {"red_2", 2},       {"sg_size", 64},
                      {"wg_size_x", 256}, {"wg_size_y", 1},
                      {"wg_size_z", 1},   {"prefetch_num_stages", 2},
                      {"mma_idx", 0}};
  const auto artifact = prepared.compile(attributes);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->configured,
            "#iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, "
            "promote_operands = [0, 1], reduction = [0, 0, 2], subgroup = [2, 4, 0], "
            "workgroup = [64, 128, 0]}>");
  EXPECT_THAT(artifact->launch.grid, ElementsAre(2560, 1, 1));  // 32 x 80
  // What the compiler made, given as text, compiles to the same code.
  const Attributes text{artifact->configured, made_texts_from(artifact->more)->translation};
  const auto again = prepared.compile(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(provider::identity(*again), provider::identity(*artifact));

  attributes.knobs.erase("wg_0");
  const auto missing = prepared.compile(attributes);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, FailureKind::kCompileError);
  EXPECT_THAT(missing.error().message, HasSubstr("wg_0"));
}

// The same product under another name is the same code.
TEST(PreparedGpuDispatch, LeavesNamesOutOfTheIdentity) {
  for (const std::string arch : {"sm_80", "gfx942"}) {
    std::string renamed = matmul(256, 256, 128);
    renamed.replace(renamed.find("@main"), 5, "@a_much_longer_name_of_the_same");
    const auto one = prepared_for(matmul(256, 256, 128), arch).compile(std::nullopt);
    const auto other = prepared_for(renamed, arch).compile(std::nullopt);
    const auto another = prepared_for(matmul(256, 256, 256), arch).compile(std::nullopt);
    ASSERT_TRUE(one && other && another);
    EXPECT_NE(one->launch.entry, other->launch.entry);
    EXPECT_EQ(provider::identity(*one), provider::identity(*other)) << arch;
    EXPECT_NE(provider::identity(*one), provider::identity(*another)) << arch;
  }
}

}  // namespace
}  // namespace hone::iree::gpu
