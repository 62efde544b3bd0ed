#include <gmock/gmock.h>

#include <cmath>

#include "provider/triton/gemm.h"
#include "provider/triton/tune_gemm.h"

namespace hone::triton {
namespace {

using problem::ElementType;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string refusal(const std::string& text) {
  const auto read = read_gemms("sizes.yaml", text, Gemm{});
  return read ? "" : read.error().message;
}

TEST(GemmFile, HoldsSizesAndLayouts) {
  const auto read = read_gemms("sizes.yaml",
                               "- {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', "
                               "'rowMajorB': 'N'}\n"
                               "# a comment\n"
                               "- {M: 1, N: 2, K: 3}\n",
                               Gemm{});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_THAT(*read, SizeIs(2));
  const GemmEntry& first = read->front();
  EXPECT_EQ(name_of(first.gemm), "gemm_4864x4096x8256_f16_f16_f16_nt");
  EXPECT_THAT(first.configuration, IsEmpty());
  EXPECT_EQ(first.line, 1);
  EXPECT_EQ(name_of(read->back().gemm), "gemm_1x2x3_f16_f16_f16_nn");
  EXPECT_EQ(read->back().line, 3);
}

TEST(GemmFile, TakesWhatAnEntryDoesNotSayFromTheCommandLine) {
  Gemm defaults;
  defaults.a = defaults.b = ElementType::kBF16;
  defaults.c = ElementType::kF32;
  defaults.b_rows = false;
  const auto read = read_gemms(
      "sizes.yaml", "- {M: 1, N: 2, K: 3}\n- {M: 1, N: 2, K: 3, dtype_c: bf16, bias: fp32}\n",
      defaults);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(name_of(read->front().gemm), "gemm_1x2x3_bf16_bf16_f32_nt");
  EXPECT_EQ(name_of(read->back().gemm), "gemm_1x2x3_bf16_bf16_bf16_nt_bias");
}

TEST(GemmFile, ABadValueIsNamedWithItsLineAndKey) {
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 16}\n- {M: 0, N: 16, K: 16}\n"),
            "sizes.yaml:2: M is '0'; it must be a whole number of at least 1");
  EXPECT_EQ(refusal("- M: 16\n  N: -4\n  K: 16\n"),
            "sizes.yaml:2: N is '-4'; it must be a whole number of at least 1");
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 1.5}\n"),
            "sizes.yaml:1: K is '1.5'; it must be a whole number of at least 1");
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: [16, 32]}\n"),
            "sizes.yaml:1: K is 'a list or a mapping'; it must be a whole number of at least 1");
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 16, rowMajorA: row}\n"),
            "sizes.yaml:1: rowMajorA is 'row'; it must be T (row major) or N");
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 16, dtype_a: fp12}\n"),
            "sizes.yaml:1: dtype_a is 'fp12'; it must be one of fp16, bf16, fp32, fp8, bf8, int8, "
            "int32");
}

TEST(GemmFile, AnOperandTooLargeForTheKernelsIsNamedWithItsLine) {
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 16}\n- {M: 65536, N: 65536, K: 16}\n"),
            "sizes.yaml:2: C has 65536 x 65536 elements, 1 of them; the kernels take fewer than "
            "2^31");
  EXPECT_THAT(refusal("- {M: 99999999999999999999, N: 16, K: 16}\n"),
              HasSubstr("sizes.yaml:1: M is '99999999999999999999'"));
}

TEST(GemmFile, AMissingAndAnUnknownKeyAreNamed) {
  EXPECT_EQ(refusal("- {M: 16, N: 16}\n"), "sizes.yaml:1: K is missing");
  EXPECT_EQ(refusal("- {M: 16, N: 16, K: 16, rowMajorC: T}\n"),
            "sizes.yaml:1: 'rowMajorC' is no key of a GEMM (did you mean 'rowMajorA' or "
            "'rowMajorB'?)");
}

TEST(GemmFile, WhatIsNoListOfSizesIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("sizes.yaml: no list of GEMM sizes"));
  EXPECT_THAT(refusal("[]"), HasSubstr("sizes.yaml: no list of GEMM sizes"));
  EXPECT_THAT(refusal("M: 16\nN: 16\nK: 16\n"), HasSubstr("sizes.yaml: no list of GEMM sizes"));
  EXPECT_THAT(refusal("- 16\n"), HasSubstr("sizes.yaml:1: an entry must be a mapping"));
  EXPECT_THAT(refusal("- {M: 16, N: 16, K: 16}\n- {M: 16, N: 16, K: 16\n- {M: 1}\n"),
              HasSubstr("sizes.yaml:3: "));  // the brace of line 2 is not closed
}

GemmEntry tuned() {
  GemmEntry entry;
  entry.gemm.m = 2048;
  entry.gemm.n = 1280;
  entry.gemm.k = 5120;
  entry.gemm.b_rows = false;
  entry.configuration = {{"BLOCK_SIZE_M", 128},       {"BLOCK_SIZE_N", 64}, {"BLOCK_SIZE_K", 32},
                         {"GROUP_SIZE_M", 4},         {"SPLIT_K", 1},       {"num_warps", 8},
                         {"num_stages", 2},           {"waves_per_eu", 0},  {"kpack", 2},
                         {"matrix_instr_nonkdim", 16}};
  return entry;
}

TEST(GemmFile, AResultIsALineOfTuneGemm) {
  // 2 x 2048 x 1280 x 5120 = 26.84e9 operations in 100 us are 268.4e12 per second.
  EXPECT_EQ(result_line(tuned(), 100e-6),
            "- {'M': 2048, 'N': 1280, 'K': 5120, 'rowMajorA': 'T', 'rowMajorB': 'N', "
            "BLOCK_SIZE_M: 128, BLOCK_SIZE_N: 64, BLOCK_SIZE_K: 32, GROUP_SIZE_M: 4, SPLIT_K: 1, "
            "num_warps: 8, num_stages: 2, waves_per_eu: 0, matrix_instr_nonkdim: 16, kpack: 2} "
            "# TFLOPS: 268.44 time(us): 100.00\n");
}

TEST(GemmFile, AResultIsAnInput) {
  const auto read = read_gemms(
      "results.yaml", result_line(tuned(), 100e-6) + result_line(tuned(), std::nan("")), Gemm{});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_THAT(*read, SizeIs(2));
  for (const GemmEntry& entry : *read) {
    EXPECT_EQ(entry.gemm, tuned().gemm);
    EXPECT_EQ(entry.configuration, tuned().configuration);
  }
}

TEST(GemmFile, WhatTuneGemmLeavesToItsCommandLineIsInALineWhereItIsNotItsDefault) {
  GemmEntry entry;
  entry.gemm.m = entry.gemm.n = entry.gemm.k = 16;
  entry.gemm.a = entry.gemm.b = entry.gemm.c = ElementType::kF32;
  entry.gemm.bias = ElementType::kF32;
  entry.gemm.batch = 8;
  entry.gemm.tf32 = true;
  const std::string line = result_line(entry, std::nan(""));
  EXPECT_EQ(line,
            "- {'M': 16, 'N': 16, 'K': 16, 'rowMajorA': 'T', 'rowMajorB': 'T', dtype_a: fp32, "
            "dtype_b: fp32, dtype_c: fp32, bias: fp32, batch: 8, tf32: 1}\n");
  const auto read = read_gemms("results.yaml", line, Gemm{});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().gemm, entry.gemm);
}

TEST(GemmFile, ASizeThatWasNotTunedIsALineWithoutConfiguration) {
  GemmEntry plain;
  plain.gemm.m = plain.gemm.n = plain.gemm.k = 16;
  EXPECT_EQ(result_line(plain, std::nan("")),
            "- {'M': 16, 'N': 16, 'K': 16, 'rowMajorA': 'T', 'rowMajorB': 'T'}\n");
}

TEST(TypeNames, AreTuneGemmsAndHones) {
  EXPECT_EQ(type_from_tune_gemm("bf8"), ElementType::kF8E5M2);
  EXPECT_EQ(type_from_tune_gemm("f8E5M2"), ElementType::kF8E5M2);
  EXPECT_EQ(type_from_tune_gemm("fp64"), std::nullopt);
  EXPECT_EQ(tune_gemm_name_of(ElementType::kBF16), "bf16");
}

TEST(GemmFile, AUsersKernelHasItsOwnKeys) {
  const std::string line =
      "- {'M': 64, 'N': 32, 'K': 16, 'rowMajorA': 'T', 'rowMajorB': 'T', num_warps: 8, WIDTH: "
      "128}\n";
  const auto read = read_gemms("gemms.yaml", line, {}, {"WIDTH", "num_warps"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at(0).configuration.at("WIDTH"), 128);
  EXPECT_EQ(result_line(read->at(0), std::nan("")), line);
  EXPECT_EQ(read_gemms("gemms.yaml", line, {}, {"WIDHT"}).error().message,
            "gemms.yaml:1: 'WIDTH' is no key of a GEMM (did you mean 'WIDHT'?)");
}

}  // namespace
}  // namespace hone::triton
