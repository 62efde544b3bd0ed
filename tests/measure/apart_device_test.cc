// Verification and measurement on a device with memory of its own, without a GPU.
#include "tests/measure/apart_device.h"

#include <gmock/gmock.h>

#include "measure/runner.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using namespace hone::test;

class ApartDeviceTest : public testing::Test {
 protected:
  void set_problem(ProblemRequest request) {
    request.device.kind = "apart";
    request.device.index = 0;
    const auto ready = runner_.set_problem(request);
    ASSERT_TRUE(ready) << ready.error().message;
    EXPECT_EQ(ready->reference, "exact");
    device_->compares = compares_;
    device_->downloads = 0;
  }
  void set_problem() { set_problem(problem_request(matmul(8, 8, 8))); }
  Verification verify(const std::string& after) {
    const auto handle = runner_.load(matmul_8(after));
    EXPECT_TRUE(handle) << handle.error().message;
    const auto verification = runner_.verify(handle.value_or(0));
    EXPECT_TRUE(verification) << verification.error().message;
    return verification.value_or(Verification{});
  }

  bool compares_ = true;
  ApartDevice* device_ = nullptr;
  Runner runner_{std::vector<device::DeviceKind>{
      device::cpu::kind(),
      {.name = "apart",
       .open = [this](const device::Address&) -> Result<std::unique_ptr<device::Device>> {
         const int core = device::cpu::available_cores().front();
         HONE_ASSIGN(auto cpu, device::cpu::open_device({&core, 1}));
         auto apart = std::make_unique<ApartDevice>(std::move(cpu));
         device_ = apart.get();
         return apart;
       }}}};
};

TEST_F(ApartDeviceTest, WhatIsRightIsNotFetched) {
  set_problem();
  const Verification verification = verify("");
  EXPECT_TRUE(verification.right) << verification.message;
  ASSERT_THAT(verification.outputs, SizeIs(1));
  EXPECT_EQ(verification.outputs[0].comparison.elements, 64);
  EXPECT_EQ(device_->downloads, 0);
}

TEST_F(ApartDeviceTest, WithoutADeviceThatComparesTheHostDoes) {
  compares_ = false;
  set_problem();
  EXPECT_TRUE(verify("").right);
  EXPECT_EQ(device_->downloads, 2);  // after each of the two runs
}

TEST_F(ApartDeviceTest, AWrongElementIsNamed) {
  set_problem();
  const Verification verification = verify("if (i == 3) c[3 * 8 + 5] += 1;");
  EXPECT_FALSE(verification.right);
  EXPECT_EQ(verification.binding, 2);
  EXPECT_THAT(verification.first_bad, ElementsAre(3, 5));
  EXPECT_EQ(verification.got, verification.expected + 1);
}

// Right over the poison of one run and not over that of the other: it was never written.
TEST_F(ApartDeviceTest, AnElementThatIsNotWrittenIsFound) {
  set_problem();
  provider::Artifact artifact = matmul_8();
  artifact.launch.grid = {7, 1, 1};
  const Verification verification = runner_.verify(runner_.load(artifact).value()).value();
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.first_bad, ElementsAre(7, 0));
  EXPECT_EQ(verification.wrongly_written, 8);
  EXPECT_TRUE(verify("").right);  // the buffers are whole again
}

TEST_F(ApartDeviceTest, WritesOutsideAndIntoInputsAreFound) {
  set_problem();
  const Verification behind = verify("if (i == 0) c[64] = 0;");
  EXPECT_THAT(behind.broken_guards, ElementsAre(2));
  EXPECT_THAT(behind.message, HasSubstr("outside of binding 2, at byte 256 of 256"));
  const Verification before = verify("if (i == 0) ((char*)c)[-1] = 0;");
  EXPECT_THAT(before.message, HasSubstr("at byte -1"));
  const Verification input = verify("if (i == 7) b[0] = 1234;");
  EXPECT_THAT(input.changed_inputs, ElementsAre(1));
  EXPECT_TRUE(verify("").right);
}

TEST_F(ApartDeviceTest, AnAccumulatingKernelStartsTheSameInEveryRun) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  request.dispatch.fused = {};
  request.dispatch.bindings[2].access = problem::Access::kReadWrite;
  set_problem(request);
  EXPECT_FALSE(verify("").right);  // it writes over what was there, instead of adding to it
}

TEST_F(ApartDeviceTest, OutputsComeFromTheDevice) {
  set_problem();
  verify("");
  const auto outputs = runner_.outputs();
  ASSERT_TRUE(outputs);
  EXPECT_THAT(outputs->bindings, ElementsAre(2));
  EXPECT_THAT(outputs->bytes.at(0), SizeIs(256));
  EXPECT_EQ(device_->downloads, 1);
}

// One download: the operands that a kernel only reads stay where they are.
TEST(ApartBuffers, AreFetchedAsFarAsKernelsWrite) {
  const int core = device::cpu::available_cores().front();
  ApartDevice apart(device::cpu::open_device({&core, 1}).value());
  const std::vector<std::byte> operand(256, std::byte{3}), result(256, std::byte{7});
  auto buffers = Buffers::create(matmul(8, 8, 8).bindings, {operand, operand, {}}, 1, &apart);
  ASSERT_TRUE(buffers) << buffers.error().message;
  ASSERT_TRUE(apart.upload(static_cast<std::byte*>(buffers->copy(0)[2].data), result));
  ASSERT_TRUE(buffers->fetch(0, /*only_written=*/true));
  EXPECT_EQ(apart.downloads, 1);
  EXPECT_TRUE(std::ranges::equal(buffers->contents(0, 2), result));
}

TEST_F(ApartDeviceTest, MeasuresInColdCopiesThatMove) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  request.cache = CacheMode::kCold;
  set_problem(request);
  const int handle = runner_.load(matmul_8()).value();
  MeasureRequest measure{.handles = {handle}, .sentinel = {}, .protocol = {}, .best = {}};
  measure.protocol.max_seconds = 0.01;
  measure.protocol.warm_up_seconds = 0;
  measure.protocol.max_warm_up_seconds = 0.001;
  for (const bool moved : {false, true}) {
    measure.other_memory = moved;
    measure.seed = 5;
    const auto result = runner_.measure(measure);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->handles.at(0).seconds.empty());
  }
  EXPECT_TRUE(runner_.verify(handle)->right);
}

// One batch, and the sentinel one too, so that there is a ratio.
TEST_F(ApartDeviceTest, AScreenedCandidateHasOneSampleBesideTheSentinels) {
  set_problem();
  const int slow =
      runner_.load(matmul_8("for (volatile int spin = 0; spin < 20000; ++spin) {}")).value();
  const int sentinel = runner_.load(matmul_8()).value();
  MeasureRequest measure{.handles = {slow}, .sentinel = sentinel, .protocol = {}, .best = 1e-7};
  measure.protocol.screen_factor = 1.3;
  measure.protocol.warm_up_seconds = 0;
  measure.protocol.max_warm_up_seconds = 0.001;
  const auto result = runner_.measure(measure);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_THAT(result->handles, SizeIs(2));
  EXPECT_THAT(result->handles[0].seconds, SizeIs(1));
  EXPECT_EQ(result->handles[0].stop, "clearly slower");
  EXPECT_THAT(result->handles[0].rounds, ElementsAre(0));
  EXPECT_THAT(result->handles[1].seconds, SizeIs(1));
  EXPECT_THAT(result->handles[1].rounds, ElementsAre(0));
}

TEST_F(ApartDeviceTest, EverythingIsGivenBack) {
  set_problem();
  const int before = device_->allocated;
  EXPECT_GT(before, 0);
  set_problem();  // on a new device: the old one's memory went with it
  EXPECT_EQ(device_->allocated, before);
}

// Fails to load code with an error of this kind.
class RefusingDevice final : public ApartDevice {
 public:
  RefusingDevice(std::unique_ptr<device::Device> cpu, ErrorKind kind)
      : ApartDevice(std::move(cpu)), kind_(kind) {}
  Result<std::unique_ptr<device::Kernel>> load(std::string_view, std::string_view,
                                               const device::LaunchParameters&) override {
    return tl::unexpected(Error{kind_, "v_unheard_of"});
  }

 private:
  ErrorKind kind_;
};

// An emulator that does not know an instruction says nothing of the code.
TEST(RefusingDevice, GivesNoVerdictIfItCannotJudgeTheCode) {
  using provider::FailureKind;
  for (const auto& [error, failed] : {std::pair(ErrorKind::kEnvironment, FailureKind::kNoVerdict),
                                      std::pair(ErrorKind::kFailure, FailureKind::kLoadError)}) {
    Runner runner(std::vector<device::DeviceKind>{
        {.name = "apart",
         .open = [kind = error](const device::Address&) -> Result<std::unique_ptr<device::Device>> {
           const int core = device::cpu::available_cores().front();
           HONE_ASSIGN(auto cpu, device::cpu::open_device({&core, 1}));
           return std::make_unique<RefusingDevice>(std::move(cpu), kind);
         }}});
    ProblemRequest request = problem_request(matmul(8, 8, 8));
    request.device.kind = "apart";
    ASSERT_TRUE(runner.set_problem(request));
    const provider::Outcome outcome = handle(runner, jobs::kLoad.ask(matmul_8()));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, failed);
    EXPECT_EQ(outcome.error().message, "v_unheard_of");
  }
}

}  // namespace
}  // namespace hone::measure
