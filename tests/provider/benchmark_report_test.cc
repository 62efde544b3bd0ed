#include <gmock/gmock.h>

#include "provider/iree/runtime_tools.h"

namespace hone::iree {
namespace {

using testing::StartsWith;

std::string error_of(const std::string& report) {
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
      error_of(R"({"benchmarks":[{"error_occurred":true,"error_message":"no such export"}]})"),
      "no such export");
}

TEST(BenchmarkReport, AnythingElseIsNoReport) {
  for (const char* report :
       {"", "not JSON", "[]", "{}", R"({"benchmarks":[]})", R"({"benchmarks":{"a":1}})",
        R"({"benchmarks":[3]})", R"({"benchmarks":7})"})
    EXPECT_THAT(error_of(report), StartsWith("the benchmark tool printed no report: ")) << report;
  for (const char* report :
       {R"({"benchmarks":[{}]})", R"({"benchmarks":[{"real_time":"x","time_unit":[]}]})",
        R"({"benchmarks":[{"real_time":-1}]})", R"({"benchmarks":[{"real_time":0}]})"})
    EXPECT_THAT(error_of(report), StartsWith("the benchmark tool's report holds no time: "))
        << report;
}

}  // namespace
}  // namespace hone::iree
