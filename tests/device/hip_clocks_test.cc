// Clocks of AMD GPUs, from files as the kernel's driver writes them.
#include <gmock/gmock.h>

#include "base/file.h"
#include "device/hip/clocks.h"

namespace hone::device::hip {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void put(std::string& table, std::size_t offset, std::uint64_t value, std::size_t bytes = 4) {
  for (std::size_t i = 0; i < bytes; ++i)
    table[offset + i] = static_cast<char>(value >> 8 * i & 0xFF);
}

// A table as the driver begins one of version 1.`revision`: all ones behind the header.
std::string blank(char revision, std::size_t bytes) {
  std::string table(bytes, '\xFF');
  put(table, 0, bytes, 2);
  table[2] = 1;
  table[3] = revision;
  return table;
}

// Version 1.6, with two of its counters.
std::string metrics(std::uint32_t power_cap, std::uint32_t memory_heat) {
  std::string table = blank(6, 1664);
  put(table, 40, power_cap);
  put(table, 52, memory_heat);
  return table;
}

TEST(ClockLevels, AreReadWithTheOneInUse) {
  const ClockLevels levels = clock_levels("0: 132Mhz *\n1: 2100Mhz\n");
  EXPECT_EQ(levels.now, 132);
  EXPECT_EQ(levels.most, 2100);
  EXPECT_EQ(clock_levels("").now, std::nullopt);
}

TEST(ThrottleRecord, IsReadFromTheVersionsOfMi300) {
  EXPECT_EQ(throttle_record(metrics(7, 9)), (ThrottleRecord{.power_cap = 7, .memory_heat = 9}));
  for (const auto& [revision, bytes] : {std::pair{7, 2208}, std::pair{8, 3360}}) {
    std::string table = blank(static_cast<char>(revision), static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < 5; ++i) put(table, 44 + 4 * i, i);
    EXPECT_EQ(throttle_record(table),
              (ThrottleRecord{
                  .hardware = 0, .power_cap = 1, .heat = 2, .regulators = 3, .memory_heat = 4}));
  }
}

// Version 1.9: attributes in any order, of any type, packed.
TEST(ThrottleRecord, IsReadFromAListOfAttributes) {
  const auto word = [](std::uint64_t id, std::uint64_t type, std::uint64_t count) {
    return type << 20 | id << 10 | count;
  };
  constexpr std::uint64_t kU16 = 2, kU32 = 4, kU64 = 6;
  std::string table = blank(9, 8 + 8 + 2 + 8 + 8 + 8 + 16 + 8 + 4);
  put(table, 4, 4);
  put(table, 8, word(0, kU16, 1), 8);    // TEMPERATURE_HOTSPOT
  put(table, 18, word(11, kU64, 1), 8);  // PPT_RESIDENCY_ACC
  put(table, 26, std::uint64_t{1} << 40, 8);
  put(table, 34, word(33, kU16, 8), 8);  // CURRENT_GFXCLK
  put(table, 58, word(14, kU32, 1), 8);  // HBM_THM_RESIDENCY_ACC
  put(table, 66, 5);
  EXPECT_EQ(throttle_record(table),
            (ThrottleRecord{.power_cap = std::uint64_t{1} << 40, .memory_heat = 5}));
  put(table, 4, 5);
  EXPECT_EQ(throttle_record(table), std::nullopt);  // cut off
}

// Version 1.3 of MI200: bit 0 is the package's power, bit 36 the GPU's hottest point.
TEST(ThrottleRecord, IsReadFromTheVersionOfMi200) {
  std::string table = blank(3, 120);
  EXPECT_EQ(throttle_record(table), ThrottleRecord{});
  const auto reasons = [&](std::uint64_t status) {
    put(table, 112, status, 8);
    return throttle_record(table)->reasons;
  };
  EXPECT_EQ(reasons(std::uint64_t{1} << 36 | 1), kThrottlePowerCap | kThrottleHeat);
  EXPECT_EQ(reasons(std::uint64_t{1} << 34), kThrottleMemoryHeat);
  EXPECT_EQ(reasons(std::uint64_t{1} << 40), kThrottleRegulators);
  EXPECT_EQ(reasons(std::uint64_t{1} << 16), kThrottleHardware);
}

TEST(ThrottleRecord, IsNotGuessedFromOtherVersions) {
  EXPECT_EQ(throttle_record(blank(4, 288)), std::nullopt);
  EXPECT_EQ(throttle_record(blank(10, 4096)), std::nullopt);
  EXPECT_EQ(throttle_record(blank(6, 352)), std::nullopt);
  EXPECT_EQ(throttle_record(metrics(7, 9).substr(0, 50)), std::nullopt);
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
  write("gpu/gpu_metrics", metrics(100, 0));
  write("sys/class/kfd/kfd/proc/1/vram_51001", "4096\n");
  write("sys/class/kfd/kfd/proc/2/vram_51001", "0\n");
  Clocks clocks(folder.path() / "gpu", 51001, folder.path());
  EXPECT_EQ(clocks.throttle_reasons(), 0u);
  write("gpu/gpu_metrics", metrics(101, 0));
  EXPECT_EQ(clocks.throttle_reasons(), kThrottlePowerCap);
  write("gpu/gpu_metrics", metrics(101, 5));
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
