// A user's own kernel, from its manifest to code, and through the command line.
#include "problem/code_target.h"
#include "tests/cli/hone_command.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kExample = HONE_SOURCE_DIR "/examples/triton/my_matmul";

std::string text_of(const std::string& path) {
  return read_file(path).value();
}

std::vector<std::int64_t> integers(const Compiled& compiled) {
  std::vector<std::int64_t> integers;
  for (const auto& argument : compiled.launch.arguments)
    if (argument.kind == problem::LaunchArgument::Kind::kInteger)
      integers.push_back(argument.value);
  return integers;
}

// Columns of A lie beside each other, and so do rows of B: their strides are 1, and compiled for.
TEST(UserKernel, IsLaunchedAsItsManifestSays) {
  const UserKernel kernel = read_user_kernel("my_matmul.yaml", text_of(kExample + ".yaml"),
                                             kExample + ".py", text_of(kExample + ".py"))
                                .value();
  Gemm product = gemm(300, 200, 64);
  product.b_rows = false;
  const auto dispatch = with_kernel(dispatch_of(product), kernel);
  const std::map<std::string, std::int64_t> knobs{{"BLOCK_M", 64},  {"BLOCK_N", 128},
                                                  {"BLOCK_K", 32},  {"GROUP_M", 4},
                                                  {"num_warps", 8}, {"num_stages", 3}};
  CompileWorkers& workers = shared_workers();
  workers.submit(1, dispatch, "sm_90", knobs);
  workers.submit(2, dispatch, "gfx942");
  const auto outcomes = workers.all();
  ASSERT_TRUE(outcomes.at(1)) << outcomes.at(1).error().message;
  ASSERT_TRUE(outcomes.at(2)) << outcomes.at(2).error().message;
  const Compiled &nvidia = *outcomes.at(1), &amd = *outcomes.at(2);
  EXPECT_EQ(nvidia.launch.entry, "my_matmul");
  EXPECT_THAT(nvidia.launch.grid, ElementsAre(10, 1, 1));  // cdiv(300, 64) * cdiv(200, 128)
  EXPECT_THAT(nvidia.launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(nvidia.launch.shared_bytes, 36864u);  // 3 stages of (64 + 128) * 32 * 2
  EXPECT_THAT(integers(nvidia), ElementsAre(300, 200, 64, 64, 64, 200));
  EXPECT_EQ(nvidia.launch.hidden_pointers, 2);
  EXPECT_EQ(problem::code_target(nvidia.code), "sm_90");
  EXPECT_THAT(amd.launch.grid, ElementsAre(20, 1, 1));  // 5 * 4 of 64 x 64
  EXPECT_THAT(amd.launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(amd.configured["waves_per_eu"], 0);
  EXPECT_EQ(problem::code_target(amd.code), "gfx942");
}

constexpr const char* kWorkspace = R"(import triton
import triton.language as tl

@triton.jit
def add(a, b, bias, c, part, rows, offset: int, EVEN: tl.constexpr, NAME: tl.constexpr, SUMS: tl.constexpr,
        WIDTH: tl.constexpr, MORE: tl.constexpr = 3):
    tl.static_assert(NAME == "sum" and EVEN and SUMS == tl.float32 and MORE == 3)
    at = tl.arange(0, WIDTH)
    tl.store(part + at, tl.load(a + at).to(SUMS) + tl.load(b + at))
    if bias is not None:
        tl.store(c + at + rows + offset, tl.load(bias + at))
)";
constexpr const char* kWorkspaceManifest = R"yaml(kernel: add
arguments:
  a: A
  b: B
  bias: bias
  c: C
  part: scratch
  rows: M
  offset: 7 if WIDTH > 8 else -7
constants:
  EVEN: K % WIDTH == 0
  NAME: "sum"
  SUMS: tl.float32
grid: ["min(units, 4)", "cdiv(M, WIDTH)", batch]
knobs: {WIDTH: [8, 16]}
default: {WIDTH: 16}
scratch: {bytes: 4 * WIDTH * M, type: fp32}
)yaml";

TEST(UserKernel, MayHaveScratchMemoryConstantsAndNoBias) {
  const UserKernel kernel =
      read_user_kernel("add.yaml", kWorkspaceManifest, "add.py", kWorkspace).value();
  Gemm batch = gemm(32, 32, 32), biased = batch;
  batch.batch = 3;
  biased.bias = problem::ElementType::kF16;
  CompileWorkers& workers = shared_workers();
  workers.submit(1, with_kernel(dispatch_of(batch), kernel), "sm_90");
  workers.submit(2, with_kernel(dispatch_of(biased), kernel), "sm_90", {{"WIDTH", 8}});
  const auto outcomes = workers.all();
  ASSERT_TRUE(outcomes.at(1)) << outcomes.at(1).error().message;
  ASSERT_TRUE(outcomes.at(2)) << outcomes.at(2).error().message;
  const Compiled &plain = *outcomes.at(1), &with_bias = *outcomes.at(2);
  EXPECT_THAT(plain.launch.grid, ElementsAre(4, 2, 3));
  EXPECT_EQ(plain.launch.scratch_bytes, 4 * 16 * 32);
  EXPECT_THAT(integers(plain), ElementsAre(32, 7));
  EXPECT_EQ(plain.launch.arguments.size(), 6u);  // no bias: compiled for None
  EXPECT_THAT(integers(with_bias), ElementsAre(32, -7));
  EXPECT_EQ(with_bias.launch.arguments.size(), 7u);
  EXPECT_EQ(with_bias.launch.arguments.at(2).binding, 2);
  EXPECT_EQ(with_bias.launch.arguments.at(3).binding, 3);
}

class UserKernelCommand : public cli::HoneCommand {
 protected:
  std::vector<std::string> tune(const std::string& kernel, const std::string& target,
                                std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"tune",     "--kernel", kernel,  "-m",  "512",
                                       "-n",       "256",      "-k",    "128", "--compile-only",
                                       "--target", target,     "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(UserKernelCommand, IsCompiledForBothVendorsWithoutAGpu) {
  const auto nvidia = json(tune(kExample + ".py", "sm_90", {"--candidates", "3", "--json"}));
  const auto& of_nvidia = nvidia["dispatches"][0];
  EXPECT_EQ(of_nvidia["dispatch"], "gemm_512x256x128_f16_f16_f16_nn_my_matmul");
  EXPECT_EQ(of_nvidia["tried"], 4);  // the default and three
  EXPECT_EQ(of_nvidia["compiled"], 4);
  const auto amd = json(tune(kExample + ".py", "gfx942", {"--candidates", "2", "--json"}));
  const auto& of_amd = amd["dispatches"][0];
  EXPECT_EQ(of_amd["compiled"], 3);
  for (const auto& each : of_amd["candidates"]) EXPECT_GT(each["registers"], 0);
}

TEST_F(UserKernelCommand, MistakesAreNamedWithFileAndLineBeforeAnythingStarts) {
  const std::string kernel = write("mine.py", kWorkspace), text = kWorkspaceManifest;
  const auto refused = [&](const std::string& manifest, std::vector<std::string> more = {}) {
    write("mine.yaml", manifest);
    const cli::Ran ran = hone(tune(kernel, "sm_90", std::move(more)));
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
    return ran.err;
  };
  EXPECT_THAT(refused("kernle: add\n" + text),
              HasSubstr("mine.yaml:1: 'kernle' is no key of a manifest (did you mean 'kernel'?)"));
  EXPECT_THAT(
      refused("constraints: [{name: wide, rule: WIDTH > 16, reason: why}]\n" + text),
      HasSubstr("mine.yaml:17: default: breaks 'wide' for gemm_512x256x128_f16_f16_f16_nn"));
  EXPECT_THAT(refused(text, {"--space", "tune_gemm"}), HasSubstr("--space tune_gemm"));
  EXPECT_THAT(refused(text, {"--manifest", "none.yaml"}), HasSubstr("none.yaml"));
  write("mine.py", "def add(:\n");
  EXPECT_THAT(refused(text), HasSubstr("mine.py:1: invalid syntax"));
  EXPECT_EQ(hone({"tune", "--manifest", "mine.yaml", "-m", "16", "-n", "16", "-k", "16"}).exit_code,
            2);
}

}  // namespace
}  // namespace hone::triton
