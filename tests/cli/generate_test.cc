// hone generate: the old tool's lines and files, workloads, and users' mistakes.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

class Generate : public HoneCommand {
 protected:
  // What it says on standard error, of a use that is wrong.
  std::string refused(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "generate");
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.out;
    EXPECT_FALSE(std::filesystem::exists(folder() / "generated"));
    return ran.err;
  }
};

TEST_F(Generate, PrintsTheOldLines) {
  const std::vector<std::string> arguments = {"generate", "--problem-m=768", "--problem-n=512",
                                              "--problem-k=1024"};
  const Ran ran = hone(arguments);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(
      ran.out,
      testing::StartsWith(
          "[Generating]: ./generated/linalg/matmul/matmul_768x512x1024_f16t_f16t_f16t/"
          "matmul_768x512x1024_f16t_f16t_f16t.mlir\n"
          "    Emitting tuning configuration : tile_config_256x128_32x3_tensorcore_mmasync\n"
          "    Emitting tuning configuration : tile_config_128x256_32x3_tensorcore_mmasync\n"));
  EXPECT_THAT(
      ran.out,
      HasSubstr("[Generating]: ./generated/linalg/matmul/matmul_768x512x1024_f32t_f32t_f32t/"
                "matmul_768x512x1024_f32t_f32t_f32t.mlir\n"));
  EXPECT_THAT(ran.err, HasSubstr("15 dispatches of 3 operations: 3 files written"));
  EXPECT_TRUE(std::filesystem::exists(folder() /
                                      "generated/linalg/matmul/matmul_768x512x1024_f16t_f16t_f16t/"
                                      "matmul_768x512x1024_f16t_f16t_f16t.mlir"));
  const Ran again = hone(arguments);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(again.err, HasSubstr("nothing was changed"));
}

TEST_F(Generate, SweepsRangesWithoutTheirEnd) {
  const Ran ran = hone({"generate", "--problem-m=64:1024:128", "--problem-n=64:1024:128",
                        "--problem-k=4096", "--types", "f16", "--dry-run"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("/matmul_64x64x4096_f16t_f16t_f16t.mlir"));
  EXPECT_THAT(ran.out, HasSubstr("/matmul_960x960x4096_f16t_f16t_f16t.mlir"));
  EXPECT_THAT(ran.err, HasSubstr("of 64 operations: nothing is written (--dry-run)"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "generated"));
}

TEST_F(Generate, ReadsAWorkload) {
  ASSERT_TRUE(
      write_file_atomically(folder() / "w.yaml",
                            "operations:\n"
                            "  - matmul_7x33x31_s8n_s8t_s32t\n"
                            "  - {kind: [matmul_bias_relu, matmul_bias_add], m: [8, 16], n: 8, "
                            "k: 8:24:8, types: \"bf16,bf16,f32\", layouts: tn}\n"));
  const Ran ran = hone({"generate", "--workload", "w.yaml", "--device", "cpu"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("/matmul_7x33x31_s8n_s8t_s32t.mlir\n"));
  EXPECT_THAT(ran.out, HasSubstr("/matmul_bias_add_16x8x16_bf16t_bf16n_f32t.mlir\n"));
  EXPECT_THAT(ran.err, HasSubstr("9 dispatches of 9 operations"));  // 1 + 2 x 2 x 2
}

TEST_F(Generate, SaysWhatIsWrongInAWorkload) {
  ASSERT_TRUE(write_file_atomically(folder() / "w.yaml", "- kind: matmul\n  mm: 8\n"));
  EXPECT_THAT(refused({"--workload", "w.yaml"}), HasSubstr("w.yaml:2: 'mm' is no key"));
  ASSERT_TRUE(write_file_atomically(folder() / "w.yaml", "- kind: matmul\n  m: 8:4\n"));
  EXPECT_THAT(refused({"--workload", "w.yaml"}),
              HasSubstr("w.yaml:2: m '8:4': the range 8:4 ends at 4"));
  ASSERT_TRUE(write_file_atomically(folder() / "w.yaml", "- matmul_1x2_f16t\n"));
  EXPECT_THAT(refused({"--workload", "w.yaml"}),
              HasSubstr("w.yaml:1: 'matmul_1x2_f16t' is no operation's name"));
  ASSERT_TRUE(write_file_atomically(folder() / "w.yaml", "- {kind: matmul\n"));
  EXPECT_THAT(refused({"--workload", "w.yaml"}), HasSubstr("no YAML"));
}

TEST_F(Generate, SaysWhatIsWrong) {
  EXPECT_EQ(
      refused({"--problem-m=1024:64:128"}),
      "hone: --problem-m '1024:64:128': the range 1024:64:128 ends at 64, below its start 1024\n");
  EXPECT_THAT(
      refused({"--dispatches=matmul_2560x2560x2560_f16t_f16t_f16t_tile_config_128x128_32x6*"}),
      HasSubstr("did you mean 'matmul_2560x2560x2560_f16t_f16t_f16t_tile_config_128x128_32x5_"));
  EXPECT_THAT(refused({"--dispatches=matmul_3456x1024x2048_f32t_f32t_f32t_tile_config_128x128_16x5_"
                       "tensorcore_mmasync"}),
              HasSubstr("which is not generated: f32 on tensor cores meant TF32"));
  EXPECT_THAT(refused({"--op-kind=matmull"}),
              HasSubstr("--operation-kind: 'matmull' is no kind of operation"));
  EXPECT_THAT(refused({"--mlir-dialect=flow"}), HasSubstr("hone writes linalg"));
  EXPECT_THAT(refused({"--device=vulkan"}), HasSubstr("not for Vulkan"));
  EXPECT_THAT(refused({"--cuda-arch=sm_75"}),
              HasSubstr("hone does not know the GPU target 'sm_75'"));
  EXPECT_THAT(refused({"--device=rocm", "--rocm-arch=sm_80"}),
              HasSubstr("no architecture of ROCm"));
  EXPECT_THAT(refused({"--use-wmma=true"}), HasSubstr("only mma.sync"));
  EXPECT_THAT(refused({"--build-dir=build"}), HasSubstr("hone generate does not take --build-dir"));
  EXPECT_THAT(refused({"--configs=tile"}), HasSubstr("'tile' is not tiles"));
  EXPECT_THAT(refused({"--types=f64"}), HasSubstr("'f64' is no element type"));
}

TEST_F(Generate, TakesConfigurationsOfTheSpace) {
  const std::vector<std::string> arguments = {
      "generate",    "--problem-m=64",    "--problem-n=64", "--problem-k=64",
      "--types=f32", "--configs=space:2", "--device=cpu"};
  const Ran ran = hone(arguments);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex(
                           "configuration : tile_config_space_[0-9a-f]+\n.*tile_config_space_"));
  const std::string text = read_file(folder() /
                                     "generated/linalg/matmul/matmul_64x64x64_f32t_f32t_f32t/"
                                     "matmul_64x64x64_f32t_f32t_f32t.mlir")
                               .value();
  EXPECT_THAT(text, HasSubstr("#iree_cpu.lowering_config<distribution = ["));
  EXPECT_THAT(hone(arguments).err, HasSubstr("nothing was changed"));  // the same by the same seed
}

}  // namespace
}  // namespace hone::cli
