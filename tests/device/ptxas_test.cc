
#include <gmock/gmock.h>

#include "base/file.h"
#include "device/cuda/own_kernels.h"
#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

using testing::HasSubstr;

// ptxas 13.0.88 -v -arch=sm_90 on tests/gpu/data/matmul_128x256x64.ptx.
constexpr const char* kMatmul =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'main_dispatch_0_matmul_128x256x64_f16xf16xf32' for "
    "'sm_90'\n"
    "ptxas info    : Function properties for main_dispatch_0_matmul_128x256x64_f16xf16xf32\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 56 registers, used 1 barriers\n"
    "ptxas info    : Compile time = 1213.193 ms\n";

TEST(PtxasTest, ReadsWhatAKernelNeeds) {
  const auto facts = parse_ptxas_output(kMatmul);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(*facts, (AssemblyFacts{.registers = 56, .barriers = 1}));
  EXPECT_TRUE(parse_ptxas_output(kMatmul, "main_dispatch_0_matmul_128x256x64_f16xf16xf32"));
  EXPECT_THAT(parse_ptxas_output(kMatmul, "other").error().message, HasSubstr("'other'"));
  EXPECT_FALSE(parse_ptxas_output("ptxas info    : 0 bytes gmem\n"));
}

// hone's own kernels are PTX by hand; a real ptxas reads them where one is installed.
class RealPtxasTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = find_ptxas();
    if (!found) GTEST_SKIP() << found.error().message;
    ptxas_ = *found;
  }
  std::filesystem::path ptxas_;
};

TEST_F(RealPtxasTest, AssemblesHonesOwnKernels) {
  for (const OwnKernel& own :
       {multiply_add_kernel(132, 1000), matrix_kernel(132, 1000), pause_kernel(1000)}) {
    const auto assembly = assemble(ptxas_, own.code, "sm_90");
    ASSERT_TRUE(assembly) << assembly.error().message << own.code;
    EXPECT_THAT(assembly->cubin, testing::StartsWith("\x7f"
                                                     "ELF"));
    EXPECT_GT(assembly->facts.registers, 0);
    EXPECT_EQ(assembly->facts.spill_store_bytes, 0);
  }
}

TEST_F(RealPtxasTest, SaysWhatIsWrong) {
  EXPECT_THAT(assemble(ptxas_, "not PTX", "sm_90").error().message, HasSubstr("ptxas: exit code"));
  EXPECT_THAT(assemble(ptxas_, pause_kernel(1).code, "sm_1").error().message, HasSubstr("sm_1"));
}

TEST(AssembleTest, EndsAnAssemblerThatHangs) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const auto hangs = folder->path() / "ptxas";
  ASSERT_TRUE(write_file_atomically(hangs, "#!/bin/sh\nsleep 100\n"));
  std::filesystem::permissions(hangs, std::filesystem::perms::owner_all);
  const auto assembly = assemble(hangs, pause_kernel(1).code, "sm_90", 0.2);
  ASSERT_FALSE(assembly);
  EXPECT_THAT(assembly.error().message, HasSubstr("no end after 200 ms"));
}

TEST_F(RealPtxasTest, AssemblesTheComparisonThatNvrtcCompiles) {
  const auto ptx = compile_cuda(comparison_source());
  if (!ptx && ptx.error().kind == ErrorKind::kEnvironment) GTEST_SKIP() << ptx.error().message;
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_THAT(*ptx, HasSubstr(".entry compare_bf16"));
  EXPECT_THAT(compile_cuda("no C++").error().message, HasSubstr("libnvrtc cannot compile"));
}

}  // namespace
}  // namespace hone::device::cuda
