// Times that cannot be.
#include "measure/arithmetic_bound.h"

#include <gmock/gmock.h>

#include "tests/measure/apart_device.h"
#include "tests/measure/kernels.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using testing::Each;
using testing::HasSubstr;

problem::Operation product(ElementType in, ElementType out) {
  return matmul_dispatch(64, 64, 64, in, out).root;
}

// 100 GFLOP/s of f32 in registers, 1000 of f16 by the maker's word.
const device::Peak kPeak{.gflops = 100, .stated_matrix_gflops = 1000, .instructions = ""};

TEST(ArithmeticBound, OfCoresIsHalfAsMuchAgainAsMeasured) {
  EXPECT_DOUBLE_EQ(most_flops(product(ElementType::kF32, ElementType::kF32), kPeak, false), 150e9);
  // 2 x 64^3 = 524,288 operations.
  EXPECT_DOUBLE_EQ(least_seconds(product(ElementType::kF32, ElementType::kF32), kPeak, false),
                   524288 / 150e9);
  EXPECT_DOUBLE_EQ(seconds_at_peak(product(ElementType::kF32, ElementType::kF32), kPeak, false),
                   524288 / 100e9);
  EXPECT_DOUBLE_EQ(most_flops(product(ElementType::kF64, ElementType::kF64), kPeak, false), 150e9);
  for (const ElementType narrow : {ElementType::kF16, ElementType::kBF16, ElementType::kI8})
    EXPECT_EQ(most_flops(product(narrow, ElementType::kF32), kPeak, false), 0);
}

TEST(ArithmeticBound, OfAGpuIsTheMakersFigure) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32})
    EXPECT_DOUBLE_EQ(most_flops(product(type, ElementType::kF32), kPeak, true), 1050e9);
  EXPECT_DOUBLE_EQ(most_flops(product(ElementType::kF16, ElementType::kF16), kPeak, true), 2100e9);
  EXPECT_EQ(most_flops(product(ElementType::kI8, ElementType::kI32), kPeak, true), 0);
  EXPECT_EQ(most_flops(product(ElementType::kF8E4M3, ElementType::kF32), kPeak, true), 0);
  device::Peak unknown = kPeak;
  unknown.stated_matrix_gflops = 0;
  EXPECT_EQ(least_seconds(product(ElementType::kF16, ElementType::kF32), unknown, true), 0);
}

// What a loop of an elementwise operation does may be left out.
TEST(ArithmeticBound, IsOfMultiplyAddsOnly) {
  problem::Operation operation = product(ElementType::kF32, ElementType::kF32);
  for (const auto kind : {problem::OperationKind::kElementwise, problem::OperationKind::kReduction,
                          problem::OperationKind::kOther}) {
    operation.kind = kind;
    EXPECT_EQ(most_flops(operation, kPeak, false), 0);
  }
}

// Its clock says that a batch took no time at all, `lies` times.
class LyingDevice final : public test::ApartDevice {
 public:
  using ApartDevice::ApartDevice;
  Result<device::BatchTime> time(device::Kernel& kernel,
                                 std::span<const std::vector<device::Buffer>> rotation,
                                 std::size_t first, std::size_t launches) override {
    HONE_ASSIGN(device::BatchTime time, ApartDevice::time(kernel, rotation, first, launches));
    if (launches > 1 && lies > 0 && --lies >= 0) time.seconds = 1e-12;
    return time;
  }
  int lies = 0;
};

class ImpossibleTime : public testing::Test {
 protected:
  HandleSamples measure(int lies) {
    ProblemRequest request = test::problem_request(test::matmul(8, 8, 8));
    request.device.kind = "apart";
    request.device.index = 0;
    EXPECT_TRUE(runner_.set_problem(request));
    MeasureRequest measure;
    measure.handles = {runner_.load(test::matmul_8()).value()};
    measure.protocol = {.warm_up_seconds = 0,
                        .max_warm_up_seconds = 0,
                        .min_samples = 3,
                        .max_samples = 3,
                        .max_seconds = 10,
                        .batch_seconds = 0.01,
                        .early_stop_factor = 0};
    measure.least_seconds = 1e-12;  // of a launch; a kernel takes microseconds
    device_->lies = lies;
    const auto result = runner_.measure(measure);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result->handles.at(0) : HandleSamples{};
  }

  LyingDevice* device_ = nullptr;
  Runner runner_{std::vector<device::DeviceKind>{
      device::cpu::kind(),
      {.name = "apart",
       .open = [this](const device::Address&) -> Result<std::unique_ptr<device::Device>> {
         const int core = device::cpu::available_cores().front();
         HONE_ASSIGN(auto cpu, device::cpu::open_device({&core, 1}));
         auto lying = std::make_unique<LyingDevice>(std::move(cpu));
         device_ = lying.get();
         return lying;
       }}}};
};

TEST_F(ImpossibleTime, IsMeasuredAgain) {
  const HandleSamples samples = measure(3);
  EXPECT_EQ(samples.impossible, 0);
  EXPECT_EQ(samples.seconds.size(), 3u);
  EXPECT_THAT(samples.seconds, Each(testing::Gt(1e-9)));
}

TEST_F(ImpossibleTime, ThatStaysIsSaid) {
  const HandleSamples samples = measure(1000);
  EXPECT_EQ(samples.impossible, 3);
  EXPECT_THAT(impossible_time(product(ElementType::kF32, ElementType::kF32), 524288 / 600e9,
                              524288 / 150e9),
              HasSubstr("above the device's arithmetic peak: 600 of 150 GFLOP/s"));
}

}  // namespace
}  // namespace hone::measure
