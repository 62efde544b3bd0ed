// What makes results of two sessions comparable. A store of an earlier hone resumes as long as the
// row is what it was.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "device/cuda/gpu.h"
#include "session/session_options.h"
#include "trial/protocols.h"

namespace hone::session {
namespace {

TEST(DeviceIdentity, OfCoresSaysWhichCpuHowManyAndWhereTheyLie) {
  tune::Options options;
  const std::vector<int> cores{device::cpu::available_cores().front()};
  options.places = device::cpu::kind().places(cores).value();
  const store::DeviceRow row = device_row(options);
  const nlohmann::json identity = device::cpu::device_identity();
  EXPECT_EQ(row.name, identity.at("model"));
  EXPECT_EQ(row.driver, identity.at("kernel"));
  EXPECT_EQ(nlohmann::json::parse(row.protocol),
            nlohmann::json({{"identity", identity},
                            {"cache", "warm"},
                            {"measuring", trial::protocols_in_use(device::Traits())},
                            {"threads", 1},
                            {"placement", device::cpu::placement(cores)}}));
}

TEST(DeviceIdentity, OfAGpuSaysWhichGpuAndDriver) {
  device::gpu::GpuFacts facts;
  facts.index = 1;
  facts.name = "NVIDIA H200";
  facts.id = "GPU-1";
  facts.arch = "sm_90";
  facts.units = 132;
  facts.last_level_cache_bytes = 50 << 20;
  facts.memory_bytes = std::int64_t{140} << 30;
  facts.driver_version = 13000;
  tune::Options options;
  options.places = {device::cuda::place_of(facts, {0, 1})};
  nlohmann::json expected{{"identity",
                           {{"kind", "cuda"},
                            {"name", "NVIDIA H200"},
                            {"arch", "sm_90"},
                            {"multiprocessors", 132},
                            {"memory_bytes", std::int64_t{140} << 30},
                            {"driver_version", 13000}}},
                          {"cache", "warm"},
                          {"measuring", trial::protocols_in_use(options.traits())}};
  const store::DeviceRow row = device_row(options);
  EXPECT_EQ(row.name, "NVIDIA H200");
  EXPECT_EQ(row.driver, "CUDA 13.0");
  EXPECT_EQ(nlohmann::json::parse(row.protocol), expected);
  // Cold operands of more than twice the L2 are other measurements.
  options.cache = measure::CacheMode::kCold;
  options.rotating_bytes = std::int64_t{512} << 20;
  expected["cache"] = "cold";
  expected["rotating_bytes"] = std::int64_t{512} << 20;
  EXPECT_EQ(nlohmann::json::parse(device_row(options).protocol), expected);
}

}  // namespace
}  // namespace hone::session
