// The verification of kernels is on a GPU what it is on a CPU.
#include <gmock/gmock.h>

#include "device/cpu/kind.h"
#include "device/cuda/gpu.h"
#include "device/cuda/kind.h"
#include "measure/runner.h"
#include "tests/gpu/problem.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace hone::test;

class GpuVerificationTest : public testing::Test {
 protected:
  void set_problem(problem::Dispatch dispatch) {
    const auto ready = runner_.set_problem(on_gpu(std::move(dispatch)));
    ASSERT_TRUE(ready) << ready.error().message;
    EXPECT_EQ(ready->reference, "exact");
  }
  Verification verify(const provider::Artifact& artifact) {
    const auto handle = runner_.load(artifact);
    EXPECT_TRUE(handle) << handle.error().message;
    const auto verification = runner_.verify(handle.value_or(0));
    EXPECT_TRUE(verification) << verification.error().message;
    if (verification && !verification->right) fmt::print("{}\n", verification->message);
    return verification.value_or(Verification{});
  }

  Runner runner_{std::vector{device::cpu::kind(), device::cuda::kind()}};
};

TEST_F(GpuVerificationTest, WhatTheCompilerMadeIsRight) {
  set_problem(matmul());
  const Verification verification = verify(iree_matmul());
  EXPECT_TRUE(verification.right) << verification.message;
  EXPECT_EQ(verification.largest_error, 0);
  ASSERT_EQ(verification.outputs.size(), 1u);
  EXPECT_EQ(verification.outputs[0].comparison.elements, 128 * 256);
}

TEST_F(GpuVerificationTest, AMissingTileIsFoundWithItsFirstElement) {
  set_problem(matmul());
  provider::Artifact artifact = iree_matmul();
  artifact.launch.grid = {7, 1, 1};
  const Verification verification = verify(artifact);
  EXPECT_FALSE(verification.right);
  EXPECT_EQ(verification.binding, 2);
  EXPECT_THAT(verification.first_bad, ElementsAre(64, 192));  // the last of 2 x 4 tiles of 64 x 64
  EXPECT_EQ(verification.wrongly_written, 64 * 64);
  EXPECT_THAT(verification.message, HasSubstr("4096 elements of binding 2 are never written"));
  EXPECT_TRUE(verify(iree_matmul()).right);
}

TEST_F(GpuVerificationTest, WritesWhereNothingIsToBeWrittenAreFound) {
  set_problem(matmul());
  // Behind the output, before it, and into an input.
  const Verification behind =
      verify(kernel_of("  mov.u32 %r0, 0; st.global.u32 [%rd2+131072], %r0;\n"));
  EXPECT_THAT(behind.broken_guards, ElementsAre(2));
  EXPECT_THAT(behind.message, HasSubstr("outside of binding 2, at byte 131072 of 131072"));
  const Verification before = verify(kernel_of("  mov.u32 %r0, 0; st.global.u8 [%rd2+-1], %r0;\n"));
  EXPECT_THAT(before.message, HasSubstr("at byte -1"));
  const Verification input = verify(kernel_of("  mov.u32 %r0, 77; st.global.u8 [%rd1], %r0;\n"));
  EXPECT_THAT(input.changed_inputs, ElementsAre(1));
}

// The device finds right what is right; here its finding and the host's must be one.
TEST_F(GpuVerificationTest, ARightOutputWithABrokenGuardIsWrong) {
  set_problem(matmul());
  provider::Artifact artifact = iree_matmul();
  const auto at = artifact.code.find("\tret;");
  ASSERT_NE(at, std::string::npos);
  artifact.code.insert(at, "\tst.global.u32 [%rd3+131072], %r1;\n");
  const Verification verification = verify(artifact);
  EXPECT_FALSE(verification.right);
  EXPECT_EQ(verification.binding, -1);  // no output is bad
  EXPECT_THAT(verification.broken_guards, ElementsAre(2));
}

TEST_F(GpuVerificationTest, AnAccumulatingKernelStartsTheSameInEveryRun) {
  problem::Dispatch dispatch = matmul();
  dispatch.fused = {};
  dispatch.bindings[2].access = problem::Access::kReadWrite;
  set_problem(dispatch);
  // It writes its product over what was there, instead of adding to it.
  EXPECT_FALSE(verify(iree_matmul()).right);
}

TEST_F(GpuVerificationTest, AFusedDispatchIsComparedWithWhatIsGiven) {
  problem::Dispatch dispatch = matmul();
  dispatch.fused = {"fill", "elementwise(arith.addf)"};
  ProblemRequest request = on_gpu(dispatch);
  request.expected = {"", "", std::string(131072, '\0')};
  const auto ready = runner_.set_problem(request);
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->reference, "given");
  const Verification verification = verify(iree_matmul());
  EXPECT_FALSE(verification.right);
  EXPECT_EQ(verification.expected, 0);
}

TEST_F(GpuVerificationTest, AColdRotationIsLargerThanTwiceTheCache) {
  const auto ready = runner_.set_problem(on_gpu(matmul(), CacheMode::kCold));
  ASSERT_TRUE(ready) << ready.error().message;
  auto driver = device::cuda::open_driver();
  const auto facts = device::cuda::list_devices(**driver);
  fmt::print("{} copies of {} bytes, L2 {} bytes\n", ready->copies, 180224,
             facts->front().last_level_cache_bytes);
  EXPECT_GT(std::int64_t{ready->copies} * 180224, 2 * facts->front().last_level_cache_bytes);
  const int handle = runner_.load(iree_matmul()).value();
  EXPECT_TRUE(runner_.verify(handle)->right);
  for (const bool other_memory : {false, true}) {
    MeasureRequest measure{.handles = {handle}, .sentinel = {}, .protocol = {}, .best = {}};
    measure.other_memory = other_memory;
    measure.seed = 3;
    const auto result = runner_.measure(measure);
    ASSERT_TRUE(result) << result.error().message;
    const HandleSamples& samples = result->handles[0];
    fmt::print("cold: {} samples, first {:.3f} us, last {:.3f} us, {}, disturbed {}\n",
               samples.seconds.size(), 1e6 * samples.seconds.front(), 1e6 * samples.seconds.back(),
               samples.stop, samples.disturbed);
  }
  EXPECT_TRUE(runner_.verify(handle)->right);
}

TEST_F(GpuVerificationTest, CalibratesTheGpu) {
  CalibrationRequest request;
  request.device = {"cuda", 0, {0}};
  request.rounds = 20;
  const auto calibration = runner_.calibrate(request);
  ASSERT_TRUE(calibration) << calibration.error().message;
  fmt::print("calibration: {:.3f} us, {:.3f} us, disturbed {}\n", 1e6 * calibration->a_seconds[0],
             1e6 * calibration->b_seconds[19], calibration->disturbed);
  EXPECT_EQ(calibration->a_seconds.size(), 20u);
  EXPECT_EQ(calibration->after.gpus.size(), 1u);
}

}  // namespace
}  // namespace hone::measure
