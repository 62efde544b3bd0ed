// What makes results of two sessions comparable.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/tune_options.h"
#include "tune/protocols.h"

namespace hone::cli {
namespace {

TEST(DeviceIdentity, HoldsTheProtocolsThatMeasureThere) {
  tune::Options options;
  options.cores = {0};
  const auto cpu = nlohmann::json::parse(cpu_row(options).protocol);
  EXPECT_EQ(cpu.at("measuring"), tune::protocols_in_use(/*gpu=*/false));
  options.cuda = 0;
  const auto gpu = nlohmann::json::parse(gpu_row(options, {}).protocol);
  EXPECT_EQ(gpu.at("measuring"), tune::protocols_in_use(/*gpu=*/true));
}

}  // namespace
}  // namespace hone::cli
