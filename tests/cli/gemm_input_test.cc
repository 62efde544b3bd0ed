// What hone says of GEMMs, GPUs and Tritons that do not go together. Nothing is written before all
// is known to be there.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/cli/hone_command.h"
#include "tests/device/fake_driver.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class GemmInput : public HoneCommand {
 protected:
  // The error of `hone tune` with these words.
  std::string refusal(std::vector<std::string> words, int exit_code = 2,
                      const std::vector<EnvironmentChange>& environment = {}) const {
    words.insert(words.begin(), "tune");
    const Ran ran = hone(words, environment);
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
    EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
    return ran.err;
  }
  // On a machine with such GPUs.
  std::string refusal_on(const std::map<std::string, std::string>& gpus,
                         const std::vector<std::string>& words) const {
    const test::FakeDriver driver(gpus);
    return refusal(words, 2, {{"LD_LIBRARY_PATH", driver.folder()}});
  }
};

TEST_F(GemmInput, AMalformedFileIsNamedWithLineAndKey) {
  const auto error = [&](const std::string& text) { return refusal({write("a.yaml", text)}); };
  const std::string path = (folder() / "a.yaml").string();
  EXPECT_EQ(error("- {M: 16, N: 16, K: 16}\n- {M: 16, N: 0, K: 16}\n"),
            "hone: " + path + ":2: N is '0'; it must be a whole number of at least 1\n");
  EXPECT_EQ(error("- {M: -16, N: 16, K: 16}\n"),
            "hone: " + path + ":1: M is '-16'; it must be a whole number of at least 1\n");
  EXPECT_EQ(error("- {M: 16, N: 16, K: 16, rowMajorB: X}\n"),
            "hone: " + path + ":1: rowMajorB is 'X'; it must be T (row major) or N\n");
  EXPECT_THAT(error("- {M: 16, N: 16, K: 16\n- {M: 16\n"), StartsWith("hone: " + path + ":2: "));
  EXPECT_THAT(error("program: x\n"), HasSubstr(path + ": no list of GEMM sizes"));
  EXPECT_THAT(refusal({"--gemm_size_file", "missing.yaml", "--provider", "triton"}),
              HasSubstr("cannot read 'missing.yaml'"));
}

TEST_F(GemmInput, ASizeOfTheCommandLineIsPositive) {
  EXPECT_EQ(refusal({"-m", "0", "-n", "16", "-k", "16"}), "hone: m is 0; it must be at least 1\n");
  EXPECT_EQ(refusal({"-m", "16", "-n", "-1", "-k", "16"}),
            "hone: n is -1; it must be at least 1\n");
  EXPECT_EQ(refusal({"-m", "16", "-n", "16"}), "hone: -m, -n and -k must be given together\n");
  EXPECT_EQ(refusal({"-m", "16", "-n", "16", "-k", "16", "-dtype_a", "fp64"}),
            "hone: --dtype-a 'fp64': types are fp16, bf16, fp32, fp8, bf8, int8, int32\n");
}

TEST_F(GemmInput, ASizeThatTheGpuCannotHoldIsNamedWithItsPlace) {
  auto gpus = test::two_h200s();
  gpus["cuDeviceTotalMem_v2"] = "(unsigned long* bytes, int d) { *bytes = 1ul << 33; return 0; }";
  // Three matrices of 2 x 2^30 bytes, twice: 12.9 GB of 8.6.
  const std::string path =
      write("a.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32768, N: 32768, K: 32768}\n");
  EXPECT_EQ(refusal_on(gpus, {path}),
            "hone: " + path +
                ":2: gemm_32768x32768x32768_f16_f16_f16_nn takes 12.9 GB, and NVIDIA "
                "H200 has 8.6 GB\n");
}

TEST_F(GemmInput, ATypeThatTheGpuLacksIsNamed) {
  auto gpus = test::two_h200s();
  gpus["cuDeviceGetAttribute"] =
      "(int* value, int a, int d) { *value = a == 75 ? 8 : a == 76 ? 0 : a == 16 ? 108 : a; return "
      "0; }";
  const std::string error =
      refusal_on(gpus, {"-m", "16", "-n", "16", "-k", "16", "-dtype_a", "fp8", "-dtype_b", "fp8"});
  EXPECT_THAT(error, HasSubstr("gemm_16x16x16_f8E4M3FN_f8E4M3FN_f16_nn: "));
  EXPECT_THAT(error, HasSubstr("sm_89"));
}

TEST_F(GemmInput, AMissingTritonSaysHowToGetIt) {
  const std::vector<std::string> words = {
      "-m",       "16",    "-n",       "16",          "-k", "16", "--compile-only",
      "--target", "sm_90", "--triton", "/nonexistent"};
  EXPECT_EQ(
      refusal(words, 3),
      "hone: --triton '/nonexistent' is no Python interpreter or virtual environment with "
      "Triton; install it with 'python3 -m pip install triton==3.9.0', or name an interpreter "
      "that has it with --triton or HONE_TRITON\n");
}

TEST_F(GemmInput, ATritonOfAnUntestedVersionIsRefused) {
  // Only its version is asked for.
  const std::string python = write("venv/bin/python3", "#!/bin/sh\necho 4.0.0\n");
  ASSERT_EQ(::chmod(python.c_str(), 0755), 0);
  const std::string venv = (folder() / "venv").string();
  EXPECT_THAT(refusal({"-m", "16", "-n", "16", "-k", "16", "--compile-only", "--target", "sm_90"},
                      3, {{"HONE_TRITON", venv}}),
              StartsWith("hone: Triton 4.0.0 of '" + python +
                         "' is not one that hone knows (3.5 to 3.9); "));
}

TEST_F(GemmInput, FlagsOfTuneGemmThatHoneDoesNotDoAreRefusedWithTheReason) {
  const auto error = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"-m", "16", "-n", "16", "-k", "16"});
    return refusal(flags);
  };
  EXPECT_THAT(error({"--iters", "20"}), HasSubstr("until its time is known well enough"));
  EXPECT_THAT(error({"--icache_flush"}), HasSubstr("does not flush the instruction cache"));
  EXPECT_THAT(error({"--no_warmup"}), HasSubstr("warms up until times are steady"));
  EXPECT_THAT(error({"--init_type", "zeros"}), HasSubstr("draws less power on zeros"));
  EXPECT_THAT(error({"--ngpus", "2", "--gpu_ids", "0,1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error({"--gpu_ids", "0", "--device", "cuda:1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal({"a.yaml", "--gemm_size_file", "b.yaml"}), HasSubstr("not both"));
}

TEST_F(GemmInput, FlagsOfGemmsAreNotForPrograms) {
  EXPECT_EQ(refusal({example("matmul_512.mlir"), "--compare"}),
            "hone: --compare is for GEMMs (--provider triton), and INPUT is a program\n");
}

// --triton is for both, so what is refused is the device.
TEST_F(GemmInput, KernelsReplaceOthersOnGpusOnly) {
  EXPECT_THAT(
      refusal({example("matmul_512.mlir"), "--provider", "iree,triton", "--triton", "/nowhere"}),
      HasSubstr("on GPUs only; give --device cuda:0 or hip:0"));
  EXPECT_THAT(refusal({example("matmul_512.mlir"), "--provider", "iree,triton", "--compile-only",
                       "--target", "sm_90"}),
              HasSubstr("--compile-only compiles IREE's own kernels"));
}

TEST_F(GemmInput, WhoseKernelsIsSaidByNames) {
  const std::string program = example("matmul_512.mlir");
  EXPECT_EQ(
      refusal({program, "--provider", "triton,library"}),
      "hone: --provider triton,library: only triton tunes GEMMs; for a program name IREE too: "
      "--provider iree,triton,library\n");
  EXPECT_EQ(
      refusal({program, "--provider", "iree,external"}),
      "hone: --provider iree,external needs manifests of your own kernels: --external FILE\n");
  EXPECT_EQ(refusal({program, "--provider", "iree,library", "--no-baselines"}),
            "hone: --provider iree,library and --no-baselines exclude each other\n");
  EXPECT_THAT(refusal({program, "--provider", "iree,tritton"}),
              HasSubstr("tritton not in {iree,triton,vector,external,library}"));
}

TEST_F(GemmInput, WhatIsCheckedWithoutTuningIsAResultFile) {
  const std::string path = write("a.yaml", "- {M: 16, N: 16, K: 16}\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--compare_wo_tuning", path},
                                             {"--gemm_size_file", path, "--compare_wo_tuning"},
                                             {path, "--benchmark"}})
    EXPECT_EQ(refusal(words), "hone: " + path +
                                  ":1: no configuration to check: no BLOCK_SIZE_M, BLOCK_SIZE_N, "
                                  "...\n");
  write("b.yaml", "- {M: 16, N: 16, K: 16, BLOCK_SIZE_M: 16, num_warps: 4}\n");
  EXPECT_EQ(refusal({"--compare-wo-tuning", "b.yaml"}),
            "hone: b.yaml:1: BLOCK_SIZE_N is missing\n");
}

}  // namespace
}  // namespace hone::cli
