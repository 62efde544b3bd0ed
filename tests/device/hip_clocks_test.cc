// Clocks of AMD GPUs, from files as the kernel's driver writes them.
#include <gmock/gmock.h>

#include "base/file.h"
#include "device/hip/clocks.h"

namespace hone::device::hip {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void put(std::string& table, std::size_t offset, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) table[offset + i] = static_cast<char>(value >> 8 * i);
}

// gpu_metrics of version 1.`revision`, with counters from prochot on.
std::string metrics(char revision, std::size_t counters, std::uint32_t power_cap,
                    std::uint32_t memory_heat) {
  std::string table(256, '\0');
  table[2] = 1;
  table[3] = revision;
  put(table, counters + 4, power_cap);
  put(table, counters + 16, memory_heat);
  return table;
}

TEST(ClockLevels, AreReadWithTheOneInUse) {
  const ClockLevels levels = clock_levels("0: 132Mhz *\n1: 2100Mhz\n");
  EXPECT_EQ(levels.now, 132);
  EXPECT_EQ(levels.most, 2100);
  EXPECT_EQ(clock_levels("").now, std::nullopt);
}

TEST(ThrottleRecord, IsReadFromTheVersionsOfMi300) {
  EXPECT_EQ(throttle_record(metrics(6, 36, 7, 9)),
            (ThrottleRecord{.power_cap = 7, .memory_heat = 9}));
  EXPECT_EQ(throttle_record(metrics(7, 44, 7, 9)),
            (ThrottleRecord{.power_cap = 7, .memory_heat = 9}));
  EXPECT_EQ(throttle_record(metrics(8, 44, 1, 0)), (ThrottleRecord{.power_cap = 1}));
}

// Version 1.3 of MI200: bit 0 is the package's power, bit 32 the GPU's temperature.
TEST(ThrottleRecord, IsReadFromTheVersionOfMi200) {
  std::string table = metrics(3, 200, 0, 0);
  put(table, 112, 1);
  put(table, 116, 1);
  EXPECT_EQ(throttle_record(table), (ThrottleRecord{.reasons = kThrottlePowerCap | kThrottleHeat}));
}

TEST(ThrottleRecord, IsNotGuessedFromOtherVersions) {
  EXPECT_EQ(throttle_record(metrics(9, 44, 7, 9)), std::nullopt);
  EXPECT_EQ(throttle_record(metrics(6, 36, 7, 9).substr(0, 50)), std::nullopt);
  EXPECT_EQ(throttle_record(""), std::nullopt);
}

TEST(Clocks, SayWhatHeldTheClockDownSinceTheLookBefore) {
  const auto folder = TemporaryFolder::create("hone-clocks-").value();
  const auto write = [&](const std::string& file, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder.path() / file, text));
  };
  write("gpu/pp_dpm_sclk", "0: 132Mhz\n1: 1450Mhz *\n2: 2100Mhz\n");
  write("gpu/pp_dpm_mclk", "0: 900Mhz\n1: 1300Mhz *\n");
  write("gpu/hwmon/hwmon4/power1_input", "748000000\n");
  write("gpu/hwmon/hwmon4/power1_cap", "750000000\n");
  write("gpu/hwmon/hwmon4/temp2_input", "71000\n");
  write("gpu/gpu_metrics", metrics(6, 36, 100, 0));
  write("sys/class/kfd/kfd/proc/1/vram_51001", "4096\n");
  write("sys/class/kfd/kfd/proc/2/vram_51001", "0\n");
  Clocks clocks(folder.path() / "gpu", 51001, folder.path());
  EXPECT_EQ(clocks.throttle_reasons(), 0u);
  write("gpu/gpu_metrics", metrics(6, 36, 101, 0));
  EXPECT_EQ(clocks.throttle_reasons(), kThrottlePowerCap);
  write("gpu/gpu_metrics", metrics(6, 36, 101, 5));
  const GpuState state = clocks.state(3);
  EXPECT_EQ(state.gpu, 3);
  EXPECT_EQ(state.megahertz, 1450);
  EXPECT_EQ(state.most_megahertz, 2100);
  EXPECT_EQ(state.memory_megahertz, 1300);
  EXPECT_EQ(state.watts, 748);
  EXPECT_EQ(state.watt_limit, 750);
  EXPECT_EQ(state.celsius, 71);
  EXPECT_THAT(state.throttled, ElementsAre("power cap", "memory's heat"));
  EXPECT_EQ(state.other_processes, 1);
  EXPECT_THAT(clocks.state(3).throttled, IsEmpty());
}

}  // namespace
}  // namespace hone::device::hip
