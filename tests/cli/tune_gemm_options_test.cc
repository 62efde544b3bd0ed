#include <gmock/gmock.h>

#include "cli/tune_options.h"

namespace hone::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TuneGemmOptions, NameGpusAsDevices) {
  TuneOptions two;
  two.tune_gemm.gpus = 2;
  ASSERT_TRUE(apply_tune_gemm_options(two));
  EXPECT_EQ(two.device, "cuda:0,1");
  TuneOptions named;
  named.tune_gemm.gpu_ids = "0,2";
  ASSERT_TRUE(apply_tune_gemm_options(named));
  EXPECT_EQ(named.device, "cuda:0,2");
}

TEST(TuneGemmOptions, RotateColdOperands) {
  TuneOptions options;
  options.tune_gemm.rotating_megabytes = 512;
  ASSERT_TRUE(apply_tune_gemm_options(options));
  EXPECT_EQ(options.cache, "cold");
  EXPECT_EQ(options.rotating_bytes, 512 * 1048576);
  TuneOptions off;
  off.tune_gemm.rotating_megabytes = 0;
  ASSERT_TRUE(apply_tune_gemm_options(off));
  EXPECT_EQ(off.cache, "warm");
}

TEST(TuneGemmOptions, WhatIsDoneAnywayIsSaid) {
  TuneOptions options;
  options.tune_gemm.keep = true;
  options.tune_gemm.init_type = "hpl";
  const auto notes = apply_tune_gemm_options(options);
  ASSERT_TRUE(notes);
  EXPECT_THAT(*notes, ElementsAre("--keep: every kernel's code is kept in 'hone.db' (hone show)",
                                  HasSubstr("random numbers of hone's own")));
  TuneOptions nothing;
  EXPECT_THAT(*apply_tune_gemm_options(nothing), IsEmpty());
  EXPECT_EQ(nothing.device, "");
}

}  // namespace
}  // namespace hone::cli
