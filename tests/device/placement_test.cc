#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "device/cpu/kind.h"
#include "device/cpu/target.h"

namespace hone::device::cpu {
namespace {

class PlacementTest : public testing::Test {
 protected:
  // Four hardware threads: 0 and 2 of one core, 1 and 3 of another, which has its own cache.
  PlacementTest() : sysfs_(std::move(TemporaryFolder::create("hone-sysfs-").value())) {
    for (int core = 0; core < 4; ++core) {
      const std::string shared = core % 2 == 0 ? "0,2\n" : "1,3\n";
      write(core, "topology/core_cpus_list", shared);
      write(core, "topology/package_cpus_list", "0-3\n");
      write(core, "cache/index3/shared_cpu_list", shared);
      write(core, "cpu_capacity", "1024\n");
    }
  }
  void write(int core, const char* file, const std::string& text) {
    const std::filesystem::path path = sysfs_.path() / fmt::format("cpu{}", core) / file;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomically(path, text));
  }
  TemporaryFolder sysfs_;
};

TEST_F(PlacementTest, OneCoreIsAsGoodAsAnother) {
  const auto first = placement(std::array{0}, sysfs_.path());
  EXPECT_EQ(first, placement(std::array{1}, sysfs_.path()));
  EXPECT_EQ(first.dump(), R"({"caches":1,"capacities":["1024"],"cores":1,"packages":1})");
}

TEST_F(PlacementTest, TwoThreadsOfOneCoreAreNotTwoCores) {
  EXPECT_EQ(placement(std::array{0, 2}, sysfs_.path())["cores"], 1);
  EXPECT_EQ(placement(std::array{0, 1}, sysfs_.path())["cores"], 2);
  EXPECT_EQ(placement(std::array{0, 1}, sysfs_.path())["caches"], 2);
}

TEST_F(PlacementTest, ASlowerCoreIsAnother) {
  write(3, "cpu_capacity", "512\n");
  EXPECT_NE(placement(std::array{1}, sysfs_.path()), placement(std::array{3}, sysfs_.path()));
}

TEST_F(PlacementTest, WhatTheSystemDoesNotSayIsLeftOut) {
  EXPECT_EQ(placement(std::array{7}, sysfs_.path()).dump(), "{}");
}

TEST(StayOn, HoldsForTheThreadAndWhatItStarts) {
  const std::vector<int> before = available_cores();
  std::thread([&] {
    ASSERT_TRUE(stay_on(std::array{before.back()}));
    std::thread([&] { EXPECT_EQ(available_cores(), std::vector<int>{before.back()}); }).join();
  }).join();
  EXPECT_EQ(available_cores(), before);
  EXPECT_FALSE(stay_on(std::array{100'000}));
}

}  // namespace
}  // namespace hone::device::cpu
