#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

using testing::StartsWith;

std::string report_error(const std::string& report) {
  const auto seconds = time_in_report(report);
  return seconds ? "a time" : seconds.error().message;
}

TEST(BenchmarkReport, TheTimeOfTheFirstBenchmarkInSeconds) {
  EXPECT_DOUBLE_EQ(
      *time_in_report(R"({"context":{},"benchmarks":[{"real_time":1.5,"time_unit":"ms"}]})"),
      0.0015);
  EXPECT_DOUBLE_EQ(*time_in_report(R"({"benchmarks":[{"real_time":250}]})"), 250e-9);
}

TEST(BenchmarkReport, WhatTheToolSaysIsWrongIsTheError) {
  EXPECT_EQ(
      report_error(R"({"benchmarks":[{"error_occurred":true,"error_message":"no such export"}]})"),
      "no such export");
}

TEST(BenchmarkReport, AnythingElseIsNoReport) {
  for (const char* report :
       {"", "not JSON", "[]", "{}", R"({"benchmarks":[]})", R"({"benchmarks":{"a":1}})",
        R"({"benchmarks":[3]})", R"({"benchmarks":7})"})
    EXPECT_THAT(report_error(report), StartsWith("the benchmark tool printed no report: "))
        << report;
  for (const char* report :
       {R"({"benchmarks":[{}]})", R"({"benchmarks":[{"real_time":"x","time_unit":[]}]})",
        R"({"benchmarks":[{"real_time":-1}]})", R"({"benchmarks":[{"real_time":0}]})"})
    EXPECT_THAT(report_error(report), StartsWith("the benchmark tool's report holds no time: "))
        << report;
}

// The tool hangs in its first call, and has a time in its second.
TEST(BenchmarkReport, ACallThatHangsIsMadeOnceMore) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const std::filesystem::path tool = folder->path() / "iree-benchmark-module",
                              called = folder->path() / "called";
  ASSERT_TRUE(write_file_atomically(
      tool, "#!/bin/sh\nif [ ! -e '" + called.string() + "' ]; then : >'" + called.string() +
                "'; sleep 60; fi\n"
                "echo '{\"benchmarks\":[{\"real_time\":2,\"time_unit\":\"ms\"}]}'\n"));
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  Installation installation;
  installation.benchmark_module = tool;
  provider::ProgramCall call;
  call.module = folder->path() / "program.vmfb";
  call.most_seconds = 2;
  const auto seconds = benchmark_module(installation, call, 0.01);
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_DOUBLE_EQ(*seconds, 0.002);
  EXPECT_TRUE(std::filesystem::exists(called));
}

// Of iree-benchmark-module 3.13 with --print_device_statistics, ResNet-50 on two cores.
TEST(KernelTimes, AreThoseOfTheHostsCores) {
  const auto kernels = kernel_times_in_statistics(R"(
IREE HAL device statistics:
  aggregate_rows=167
  host_execution_function_total=787.532 ms
  host_queue p=0 q=0 alloca  count=27 total=2.800 ms avg=103.714 us operations=27 payload=174328416B
  host_execute_queue p=0 q=0 dispatch  count=945 total=787.532 ms avg=833.367 us operations=945
  host_execute resnet50$async_dispatch_0_slow_memcpy  count=9 total=400.750 us avg=44.527 us tiles=252
  host_execute resnet50$async_dispatch_9_matmul_64x3136x576_f32  count=27 total=38.501 ms avg=1.425 ms
  host_execute_queue p=0 q=0 barrier  count=9 total=330 ns avg=36 ns
)");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "resnet50$async_dispatch_0_slow_memcpy");
  EXPECT_EQ(kernels[0].launches, 9u);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 400.750e-6);
  EXPECT_EQ(kernels[1].launches, 27u);
  EXPECT_DOUBLE_EQ(kernels[1].seconds, 38.501e-3);
  EXPECT_TRUE(kernel_times_in_statistics("IREE HAL device statistics:\n  no records\n").empty());
}

}  // namespace
}  // namespace hone::iree
