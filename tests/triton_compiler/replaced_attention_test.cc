// Attention of a program: from what it states to the program that iree-compile makes with a kernel
// of Triton's in its place. Figures are those of Triton 3.9.0.
#include "provider/iree/gpu/executable.h"
#include "provider/iree/iree_spec_writer.h"
#include "provider/iree/whole_program.h"
#include "provider/triton/triton_provider.h"
#include "tests/provider_iree_gpu/child.h"
#include "tests/provider_iree_gpu/programs.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using iree::gpu::attention;
using iree::gpu::flags_for;
using iree::gpu::in_child;
using testing::ElementsAre;
using testing::HasSubstr;

// The compiler keeps processes from being forked and ended in peace, so it has one of its own.
problem::Dispatch dispatch_of(const std::string& program) {
  const std::string json = in_child([&]() -> std::string {
    const auto loaded =
        load_program(iree::compiler(), "main.mlir", program, flags_for("sm_90"), {});
    return loaded ? nlohmann::json(loaded->dispatches.front()).dump() : loaded.error().message;
  });
  return nlohmann::json::parse(json).get<problem::Dispatch>();
}

TEST(ReplacedAttention, IsWhatTheProgramHolds) {
  const std::string program = attention(4, 512, 64);
  problem::Dispatch dispatch = dispatch_of(program);
  const ReplacingProvider provider(gemm_device("sm_90").value(), "3.9.0");
  ASSERT_EQ(provider.why_no_space(dispatch), "");

  problem::Dispatch stated = dispatch;
  stated.source = problem::statement_text(dispatch.statement);
  const auto compiled = shared_workers().one(
      stated, "sm_90", {{"BLOCK_M", 128}, {"BLOCK_N", 64}, {"num_warps", 4}, {"num_stages", 2}});
  ASSERT_TRUE(compiled) << compiled.error().message;
  const problem::Launch& launch = compiled->launch;
  EXPECT_EQ(launch.entry, dispatch.name);
  EXPECT_THAT(launch.grid, ElementsAre(512 / 128, 4, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  // 128 queries, and two stages of 64 keys and 64 values, of 64 elements of two bytes.
  EXPECT_EQ(launch.shared_bytes, (128u + 2 * 2 * 64) * 64 * 2);
  EXPECT_EQ(launch.hidden_pointers, 0);
  EXPECT_THAT(compiled->code, HasSubstr("wgmma.mma_async"));

  // Of a program's 128 queries and 3 parts of the keys: sums, the largest score and the weights'
  // sum.
  const auto split = shared_workers().one(
      stated, "sm_90",
      {{"BLOCK_M", 128}, {"BLOCK_N", 64}, {"SPLIT_K", 3}, {"num_warps", 4}, {"num_stages", 2}});
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_THAT(split->launch.grid, ElementsAre(512 / 128, 4, 3));
  EXPECT_THAT(split->code,
              HasSubstr("_memory0[" + std::to_string(16 * (3 * 128 * (64 + 2) + 1) * 4) + "];"));

  const iree::IreeSpecWriter specs("", "", iree::kCudaSpecFlag);
  const auto file = specs.replaced(dispatch, {}, compiled->code, launch);
  ASSERT_TRUE(file) << file.error().message;
  const TemporaryFolder folder = TemporaryFolder::create("hone-test-").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / (file->executable + ".mlir"), file->text));
  const std::string found = in_child([&]() -> std::string {
    std::vector<std::string> flags = flags_for("sm_90");
    flags = specs.with_replaced(std::move(flags), folder.path());
    const auto module = compile_program(iree::compiler(), "main.mlir", program, flags);
    if (!module) return module.error().message;
    const auto held = iree::kernel_in_module(*module, dispatch.name);
    return held ? held->code : "no such kernel";
  });
  // Behind it is the zero that the driver reads up to.
  EXPECT_TRUE(found.starts_with(compiled->code)) << found.substr(0, 300);
}

}  // namespace
}  // namespace hone::triton
