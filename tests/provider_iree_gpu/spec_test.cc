// Specs for GPUs, proved in the IR that the whole program is compiled to.
#include <gmock/gmock.h>

#include "provider/iree/iree_provider.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GpuSpec : public ::testing::TestWithParam<std::string> {};

// The lowering configuration of the program's only dispatch under `flags`.
std::string configured(const std::string& program, const std::vector<std::string>& flags) {
  const auto dispatches = configured_dispatches(compiler(), "program.mlir", program, flags);
  if (!dispatches) return dispatches.error().message;
  return dispatches->at(0).lowering_config;
}

TEST_P(GpuSpec, GivesTheProgramTheConfigurationThatTheCompilerMadeOfKnobs) {
  const std::string arch = GetParam(), program = matmul(2048, 10240, 1280);
  const auto dispatch = dispatch_of(program, arch);
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
  ASSERT_TRUE(prepared) << prepared.error().message;
  provider::Attributes attributes;
  attributes.statement = 0;
  const bool amd = arch == "gfx942";
  // 2 x 2 subgroups, each of 2 x 4 (16 x 16) or 2 x 8 (16 x 8) instructions.
  attributes.knobs = {{"wg_0", 64},
                      {"wg_1", 128},
                      {"sg_0", 2},
                      {"sg_1", amd ? 4 : 8},
                      {"red_2", 2},
                      {"sg_size", amd ? 64 : 32},
                      {"wg_size_x", amd ? 256 : 128},
                      {"wg_size_y", 1},
                      {"wg_size_z", 1},
                      {"prefetch_num_stages", 2},
                      {"mma_idx", 0}};
  const auto artifact = prepared->compile(attributes);
  ASSERT_TRUE(artifact) << artifact.error().message;

  const IreeProvider provider(compiler().installation(), *problem::gpu_target(arch));
  const auto spec = provider.spec(
      {{dispatch.name, dispatch.root, {artifact->configured, artifact->translation}}});
  ASSERT_TRUE(spec) << spec.error().message;
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "spec.mlir";
  ASSERT_TRUE(write_file_atomically(file, *spec));
  std::vector<std::string> flags = flags_for(arch);
  EXPECT_THAT(configured(program, flags), Not(HasSubstr("workgroup = [64, 128, 0]")));
  flags.push_back(provider.spec_flag(file));
  EXPECT_EQ(configured(program, flags), artifact->configured);
}
INSTANTIATE_TEST_SUITE_P(Targets, GpuSpec, ::testing::Values("gfx942"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace hone::iree::gpu
