#include "device/device.h"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "device/cuda/kind.h"
#include "device/cuda/own_kernels.h"
#include "device/cuda/toolkit.h"
#include "tests/gpu/problem.h"

namespace hone::device::cuda {
namespace {

using testing::Gt;
using testing::HasSubstr;

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto driver = open_driver();
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = *driver;
    const auto devices = list_devices(*driver_);
    ASSERT_TRUE(devices) << devices.error().message;
    auto device = gpu::open_device(vendor(), driver_, devices->at(0));
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
  }
  std::shared_ptr<Driver> driver_;
  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, StatesItsFacts) {
  const auto devices = list_devices(*driver_);
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_THAT(*devices, testing::Not(testing::IsEmpty()));
  const GpuFacts& facts = devices->front();
  fmt::print("{}\n", place_of(facts, {}).facts.details);
  EXPECT_THAT(facts.arch, testing::StartsWith("sm_"));
  EXPECT_THAT(facts.id, testing::MatchesRegex("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
  EXPECT_THAT(facts.units, Gt(0));
  EXPECT_THAT(facts.last_level_cache_bytes, Gt(1 << 20));
  EXPECT_THAT(gpu::find_device(*devices, kKind, 7).error().message,
              HasSubstr("device cuda:7 is not there: this machine has cuda:0 (" + facts.name));
}

TEST_F(CudaDeviceTest, KeepsASecondOpeningOut) {
  gpu::LeasedDevices first(vendor(), std::chrono::milliseconds(0));
  gpu::LeasedDevices second(vendor(), std::chrono::milliseconds(0));
  ASSERT_TRUE(first.open(0));
  EXPECT_TRUE(first.open(0));  // its own
  const auto refused = second.open(0);
  ASSERT_FALSE(refused);
  fmt::print("{}\n", refused.error().message);
  EXPECT_THAT(refused.error().message, HasSubstr("is leased by process"));
}

TEST_F(CudaDeviceTest, TellsItsPeakAndState) {
  const Peak peak = device_->measure_peak();
  fmt::print("{}\n", nlohmann::json(peak).dump());
  EXPECT_THAT(peak.gflops, Gt(1000));
  EXPECT_THAT(peak.matrix_gflops, Gt(2 * peak.gflops));
  EXPECT_THAT(peak.gbytes_per_second, Gt(100));
  const MachineState state = device_->machine_state();
  fmt::print("{}\n", nlohmann::json(state).dump());
  ASSERT_EQ(state.gpus.size(), 1u);
  EXPECT_TRUE(state.gpus[0].megahertz);
  EXPECT_EQ(nlohmann::json(state).get<MachineState>(), state);
}

TEST_F(CudaDeviceTest, EventsAgreeWithTheWallClock) {
  const auto kernel = device_->calibration_kernel();
  ASSERT_NE(kernel, nullptr);
  const std::vector<std::vector<Buffer>> nothing{{}};
  ASSERT_TRUE(device_->time(*kernel, nothing, 0, 1));  // loads what comes before a batch
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto batch = device_->time(*kernel, nothing, 0, 200);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(batch) << batch.error().message;
    fmt::print("200 launches: {:.3f} ms by events, {:.3f} ms by the wall clock, disturbed {}\n",
               1e3 * batch->seconds, 1e3 * wall.count(), batch->disturbed);
    EXPECT_LT(batch->seconds, wall.count());
    EXPECT_GT(batch->seconds, 0.8 * wall.count());
  }
}

TEST_F(CudaDeviceTest, ShortKernelsAreNotTimedAsTheirLaunches) {
  const provider::Artifact artifact = test::kernel_of("");
  auto kernel = device_->load("ptx", artifact.code, {.entry = "kernel", .constants = {}});
  ASSERT_TRUE(kernel) << kernel.error().message;
  const std::vector<std::vector<Buffer>> bindings{{Buffer{}, Buffer{}, Buffer{}}};
  for (const std::size_t launches : {1u, 10u, 100u, 500u, 2000u}) {
    ASSERT_TRUE(device_->time(**kernel, bindings, 0, launches));
    const auto batch = device_->time(**kernel, bindings, 0, launches);
    ASSERT_TRUE(batch);
    fmt::print("an empty kernel, {} launches: {:.2f} us each\n", launches,
               1e6 * batch->seconds / static_cast<double>(launches));
  }
}

TEST_F(CudaDeviceTest, ComparesInItsOwnMemory) {
  const auto put = [&](const std::vector<float>& values) {
    Memory memory = Memory::allocate(*device_, values.size() * 4).value();
    EXPECT_TRUE(device_->upload(memory.data(), std::as_bytes(std::span(values))));
    return memory;
  };
  std::vector<float> values(100000, 2.0f);
  const Memory a = put(values);
  values[99999] = 2.5f;
  const Memory b = put(values);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  const Memory c = put(values);
  const auto differ = [&](const Memory& got, const Memory& expected, double absolute) {
    return device_->difference(got.data(), expected.data(), problem::ElementType::kF32, 100000,
                               absolute, 0);
  };
  const auto same = differ(a, a, 0), far = differ(b, a, 0.4), near = differ(b, a, 0.5),
             nan = differ(c, c, 1);
  ASSERT_TRUE(same && far && near && nan);
  ASSERT_TRUE(*same) << "libnvrtc was not found: " << compile_cuda("").error().message;
  EXPECT_TRUE((*same)->right);
  EXPECT_FALSE((*far)->right);
  EXPECT_TRUE((*near)->right);
  EXPECT_EQ((*near)->worst_error, 0.5);
  EXPECT_EQ((*near)->worst_relative, 0.25);
  EXPECT_FALSE((*nan)->right);  // the host decides
  const auto bytes =
      device_->difference(b.data() + 1, a.data() + 1, problem::ElementType::kI8, 399996, 0, 0);
  EXPECT_TRUE((*bytes)->right);
  const auto last =
      device_->difference(b.data() + 1, a.data() + 1, problem::ElementType::kI8, 399999, 0, 0);
  EXPECT_FALSE((*last)->right);
}

TEST_F(CudaDeviceTest, WhatDoesNotLoadIsAFailureInWords) {
  const auto load = [&](const std::string& code, LaunchParameters parameters) {
    const auto kernel = device_->load("ptx", code, parameters);
    if (kernel) return std::string("loaded");
    fmt::print("{}\n", kernel.error().message);
    return kernel.error().message;
  };
  const std::string good = test::kernel_of("").code;
  EXPECT_EQ(load(good, {.entry = "kernel", .constants = {}}), "loaded");
  EXPECT_THAT(load(good, {.entry = "missing", .constants = {}}), HasSubstr("no kernel 'missing'"));
  EXPECT_THAT(
      load(test::kernel_of("  no.such.instruction;\n").code, {.entry = "kernel", .constants = {}}),
      HasSubstr("cannot load the code"));
  EXPECT_THAT(load(good, {.entry = "kernel", .block = {2048, 1, 1}, .constants = {}}),
              HasSubstr("a block of 2048x1x1 threads"));
  EXPECT_THAT(load(good, {.entry = "kernel", .shared_bytes = 1 << 20, .constants = {}}),
              HasSubstr("1048576 bytes of dynamic shared memory"));
  EXPECT_EQ(load(good, {.entry = "kernel", .shared_bytes = 160 << 10, .constants = {}}), "loaded");
  EXPECT_THAT(device_->load("elf", good, {.entry = "kernel", .constants = {}}).error().message,
              HasSubstr("not 'elf'"));
  EXPECT_THAT(device_->allocate(std::size_t{1} << 43).error().message, HasSubstr("out of memory"));
  EXPECT_FALSE(device_->is_lost());
}

}  // namespace
}  // namespace hone::device::cuda
