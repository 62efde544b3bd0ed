// What a candidate can do to a GPU costs that candidate alone.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/process_tree.h"
#include "measure/runner.h"
#include "tests/gpu/problem.h"
#include "worker/runner_process.h"

namespace hone::worker {
namespace {

using provider::FailureKind;
using testing::HasSubstr;
using namespace hone::test;

class GpuFaultsTest : public testing::Test {
 protected:
  Outcome call(const Message& message, double seconds = 120) {
    auto outcome = runner_.call(message, seconds);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : Outcome(tl::unexpected(provider::Failure{}));
  }
  void set_problem() {
    measure::ProblemRequest request = on_gpu(matmul());
    if (fill_memory_) {
      request.cache = measure::CacheMode::kCold;
      request.last_level_cache = std::int64_t{1} << 40;  // the buffers take an eighth of the memory
    }
    const Outcome ready = call(measure::jobs::kSetProblem.ask(request));
    ASSERT_TRUE(ready) << ready.error().message;
    generation_ = runner_.generation();
  }
  // How a candidate fails; an empty message when it does not.
  provider::Failure failure_of(const provider::Artifact& artifact, double seconds = 120) {
    EXPECT_TRUE(runner_.ensure_ready());
    if (runner_.generation() != generation_) set_problem();
    const Outcome loaded = call(measure::jobs::kLoad.ask(artifact));
    if (!loaded) return loaded.error();
    const Outcome verified = call({"verify", {{"handle", loaded->body.at("handle")}}, {}}, seconds);
    if (verified) {
      const auto verification = verified->body.get<measure::Verification>();
      return {FailureKind::kWrong, verification.right ? "" : verification.message};
    }
    fmt::print("{}: {}\n", provider::name_of(verified.error().kind), verified.error().message);
    return verified.error();
  }
  void expect_the_next_to_work() { EXPECT_EQ(failure_of(iree_matmul()).message, ""); }

  RunnerProcess runner_{[] {
    RunnerOptions options;
    options.command = {"/proc/self/exe", std::string(kServeRunner)};
    options.command[0] = std::filesystem::read_symlink("/proc/self/exe");
    return options;
  }()};
  std::uint64_t generation_ = 0;
  bool fill_memory_ = false;
};

TEST_F(GpuFaultsTest, AnIllegalAddressIsNamedAndTheRunnerReplaced) {
  expect_the_next_to_work();
  const auto failure =
      failure_of(kernel_of("  mov.u32 %r0, 1; mov.u64 %rd3, 64; st.global.u32 [%rd3], %r0;\n"));
  EXPECT_EQ(failure.kind, FailureKind::kKernelCrash);
  EXPECT_THAT(failure.message, HasSubstr("illegal memory access"));
  EXPECT_EQ(runner_.pid(), -1);
  expect_the_next_to_work();
  EXPECT_EQ(runner_.generation(), 2u);
}

TEST_F(GpuFaultsTest, ATrapIsNamed) {
  EXPECT_THAT(failure_of(kernel_of("  trap;\n")).message, HasSubstr("CUDA_ERROR"));
  expect_the_next_to_work();
}

TEST_F(GpuFaultsTest, AMisalignedAddressIsNamed) {
  const auto failure = failure_of(kernel_of("  mov.u32 %r0, 1; st.global.u32 [%rd2+1], %r0;\n"));
  EXPECT_THAT(failure.message, HasSubstr("misaligned address"));
  expect_the_next_to_work();
}

TEST_F(GpuFaultsTest, AKernelThatNeverEndsIsATimeout) {
  const auto failure =
      failure_of(kernel_of("again: ld.volatile.global.u32 %r0, [%rd0]; bra again;\n"), 2);
  EXPECT_EQ(failure.kind, FailureKind::kKernelTimeout);
  EXPECT_EQ(failure.message, "no answer after 2 s");
  expect_the_next_to_work();
}

TEST_F(GpuFaultsTest, DeviceMemoryThatDoesNotSufficeIsAFailureOfTheCandidate) {
  // The buffers have taken an eighth of the memory; this takes what is left and more.
  fill_memory_ = true;
  provider::Artifact artifact = kernel_of("  mov.u64 %rd3, array; st.global.u64 [%rd2], %rd3;\n");
  const auto entry = artifact.code.find(".visible");
  for (int i = 0; i < 80; ++i)  // 2 GiB each
    artifact.code.insert(entry, fmt::format(".global .align 8 .b8 {}[2147483640];\n",
                                            i == 0 ? "array" : fmt::format("array{}", i)));
  const auto failure = failure_of(artifact);
  fmt::print("{}: {}\n", provider::name_of(failure.kind), failure.message);
  EXPECT_THAT(failure.message, HasSubstr("out of memory"));
  expect_the_next_to_work();
}

TEST_F(GpuFaultsTest, AKilledRunnerIsReplaced) {
  expect_the_next_to_work();
  const pid_t pid = runner_.pid();
  ::kill(pid, SIGKILL);
  while (resident_bytes(pid) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  expect_the_next_to_work();
}

}  // namespace
}  // namespace hone::worker
