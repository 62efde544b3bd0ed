#include <gmock/gmock.h>
#include <sched.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "device/cpu/thread_pool.h"
#include "tests/device/kernel_library.h"

namespace hone::device::cpu {
namespace {

using test::kernel_library;
using testing::Each;
using testing::Eq;
using testing::HasSubstr;

// The first `count` cores this process may use; fewer where there are fewer.
std::vector<int> first_cores(std::size_t count) {
  std::vector<int> cores = available_cores();
  cores.resize(std::min(cores.size(), count));
  return cores;
}

Buffer buffer_of(std::vector<std::int32_t>& values) {
  return {values.data(), values.size() * sizeof(values[0])};
}

class LaunchTest : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const std::vector<int> cores = first_cores(GetParam());
    if (cores.size() < GetParam()) GTEST_SKIP() << "this machine has too few cores";
    device_ = std::move(open_device(cores).value());
  }

  Result<std::unique_ptr<Kernel>> load(const std::string& code, LaunchParameters parameters) {
    return device_->load("embedded-elf-x86_64", code, parameters);
  }

  std::unique_ptr<Device> device_;
};

TEST_P(LaunchTest, CallsEveryWorkgroupOnce) {
  const std::string code = kernel_library(R"(
    uint32_t index = (workgroup->z * dispatch->count_y + workgroup->y) * dispatch->count_x + workgroup->x;
    __atomic_fetch_add(&((int32_t*)dispatch->bindings[0])[index], 1, __ATOMIC_RELAXED);)");
  for (const std::array<std::uint32_t, 3> grid :
       {std::array{1u, 1u, 1u}, std::array{7u, 1u, 1u}, std::array{3u, 5u, 7u},
        std::array{1u, 1u, 200u}, std::array{64u, 33u, 1u}}) {
    std::vector<std::int32_t> counts(std::size_t{grid[0]} * grid[1] * grid[2], 0);
    const auto kernel = load(code, {.entry = "kernel", .grid = grid});
    ASSERT_TRUE(kernel) << kernel.error().message;
    const std::vector<Buffer> bindings{buffer_of(counts)};
    ASSERT_TRUE((*kernel)->launch(bindings));
    EXPECT_THAT(counts, Each(Eq(1)));
    ASSERT_TRUE((*kernel)->launch(bindings));
    EXPECT_THAT(counts, Each(Eq(2)));
  }
}

TEST_P(LaunchTest, PassesConstantsLengthsAndLocalMemory) {
  const auto kernel = load(kernel_library(R"(
        int32_t* out = dispatch->bindings[0];
        if (dispatch->lengths[0] != 8 || dispatch->constant_count != 2) return 1;
        if (workgroup->local_size != 2 * 4096 || (uintptr_t)workgroup->local % 4096 != 0) return 2;
        ((char*)workgroup->local)[2 * 4096 - 1] = 1;
        out[0] = dispatch->constants[0]; out[1] = dispatch->constants[1];)",
                                          {.local_pages = 2, .constants = 2}),
                           {.entry = "", .constants = {17, 4}});
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<std::int32_t> out(2, 0);
  const std::vector<Buffer> bindings{buffer_of(out)};
  const Status status = (*kernel)->launch(bindings);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(out, (std::vector<std::int32_t>{17, 4}));
}

TEST_P(LaunchTest, ReportsTheErrorAKernelReturns) {
  const auto kernel = load(kernel_library("return workgroup->x == 3 ? 42 : 0;"),
                           {.entry = "kernel", .grid = {5, 1, 1}});
  ASSERT_TRUE(kernel);
  std::vector<std::int32_t> none(1);
  const std::vector<Buffer> bindings{buffer_of(none)};
  EXPECT_THAT((*kernel)->launch(bindings).error().message, HasSubstr("returned the error 42"));
}

// As under IREE's own drivers; a denormal operand would slow a kernel down a hundredfold.
TEST_P(LaunchTest, FlushesDenormalsDuringTheLaunchOnly) {
  const auto kernel = load(kernel_library(R"(
        volatile float tiny = 1e-40f, one = 1; volatile float* out = dispatch->bindings[0];
        out[workgroup->x] = tiny * one;)"),
                           {.entry = "kernel", .grid = {64, 1, 1}});
  ASSERT_TRUE(kernel);
  std::vector<std::int32_t> out(64, 1);
  const std::vector<Buffer> bindings{buffer_of(out)};
  ASSERT_TRUE((*kernel)->launch(bindings));
  EXPECT_THAT(out, Each(Eq(0)));
  volatile float tiny = 1e-40f, one = 1;
  EXPECT_NE(tiny * one, 0.0f);
}

TEST_P(LaunchTest, RefusesLaunchesThatDoNotFitTheExport) {
  const std::string code = kernel_library("", {.constants = 1, .bindings = 2});
  EXPECT_THAT(load(code, {.entry = "kernel"}).error().message,
              HasSubstr("reads 1 constants, but the launch has 0"));
  EXPECT_FALSE(load(code, {.entry = "kernel", .grid = {0, 1, 1}, .constants = {1}}));
  EXPECT_FALSE(load(code, {.entry = "kernel", .grid = {1, 1, 70000}, .constants = {1}}));
  EXPECT_FALSE(load(code, {.entry = "other", .constants = {1}}));
  const auto kernel = load(code, {.entry = "kernel", .constants = {1}});
  ASSERT_TRUE(kernel);
  EXPECT_THAT((*kernel)->launch({}).error().message, HasSubstr("takes 2 buffers, but 0"));
}

TEST_P(LaunchTest, TimesAsManyLaunchesAsAskedForInRotation) {
  const auto kernel = load(kernel_library("++*(int32_t*)dispatch->bindings[0];"), {.entry = ""});
  ASSERT_TRUE(kernel);
  std::vector<std::int32_t> a(1), b(1), c(1);
  const std::vector<std::vector<Buffer>> rotation{{buffer_of(a)}, {buffer_of(b)}, {buffer_of(c)}};
  const auto time = device_->time(**kernel, rotation, 4, 5);  // b c a b c
  ASSERT_TRUE(time);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(b[0], 2);
  EXPECT_EQ(c[0], 2);
  EXPECT_GT(time->seconds, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, LaunchTest, testing::Values(1, 2),
                         [](const auto& each) { return fmt::format("Threads{}", each.param); });

TEST(ThreadPoolTest, RunsOnEachOfItsCoresAndGivesThemBack) {
  const std::vector<int> allowed = available_cores(), cores = first_cores(2);
  {
    const auto pool = ThreadPool::create(cores);
    ASSERT_TRUE(pool) << pool.error().message;
    for (int round = 0; round < 1000; ++round) {
      std::vector<int> seen(cores.size(), -1);
      (*pool)->run([&](int thread) { seen[static_cast<std::size_t>(thread)] = sched_getcpu(); });
      ASSERT_EQ(seen, cores);
    }
    EXPECT_EQ((*pool)->processor_seconds().size(), cores.size());
  }
  EXPECT_EQ(available_cores(), allowed);
}

TEST(ThreadPoolTest, ShiftsTheStacksOfItsThreads) {
  const std::vector<int> cores{0};
  auto pool = ThreadPool::create(cores);
  ASSERT_TRUE(pool) << pool.error().message;
  std::uintptr_t position = 0;
  auto where = [&](int) {
    position = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  };
  (*pool)->run(where);
  const std::uintptr_t before = position;
  (*pool)->shift_stacks(640);
  (*pool)->run(where);
  const std::uintptr_t moved = before - position;
  EXPECT_GE(moved, 640u);
  EXPECT_LT(moved, 1024u);  // a sanitizer adds red zones
}

TEST(ThreadPoolTest, RefusesCoresItCannotHave) {
  const int core = available_cores().front();
  EXPECT_FALSE(ThreadPool::create({}));
  EXPECT_THAT(ThreadPool::create(std::array{core, core}).error().message, HasSubstr("twice"));
  EXPECT_THAT(ThreadPool::create(std::array{1000}).error().message, HasSubstr("core 1000"));
}

TEST(PeakTest, IsThatOfAProcessorOfThisCentury) {
  const auto device = open_device(first_cores(2));
  ASSERT_TRUE(device);
  const Peak peak = (*device)->measure_peak();
  EXPECT_GT(peak.gflops, 1);
  EXPECT_FALSE(peak.instructions.empty());
}

}  // namespace
}  // namespace hone::device::cpu
