#include "trial/lease_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "base/file.h"

namespace hone::trial {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

class LeaseKeeperTest : public testing::Test {
 protected:
  store::Store open() {
    return *store::Store::open(folder_.path() / "hone.db", store::Mode::kReadWrite);
  }
  TemporaryFolder folder_ = *TemporaryFolder::create("hone-leases-");
  store::Store mine_ = open();
  store::Store theirs_ = open();
};

TEST_F(LeaseKeeperTest, WhatOneTunerIsAtAnotherPutsAside) {
  auto first = *LeaseKeeper::start(mine_, -1, minutes(1));
  auto second = *LeaseKeeper::start(theirs_, -1, minutes(1));
  EXPECT_TRUE(*first.take(compile_key(7)));
  EXPECT_FALSE(*second.take(compile_key(7)));
  EXPECT_TRUE(*second.take(compile_key(8)));
  ASSERT_TRUE(first.give_back(compile_key(7)));
  EXPECT_TRUE(*second.take(compile_key(7)));
}

TEST_F(LeaseKeeperTest, GivesAllBackAtItsEnd) {
  {
    auto keeper = *LeaseKeeper::start(mine_, -1, minutes(1));
    EXPECT_TRUE(*keeper.take(compile_key(7)));
    EXPECT_TRUE(*keeper.take(measure_key(1, 2, "e")));
    EXPECT_EQ(theirs_.leases()->size(), 2u);
  }
  EXPECT_TRUE(theirs_.leases()->empty());
}

TEST_F(LeaseKeeperTest, KeepsALeaseAliveForMuchLongerThanItsTime) {
  auto keeper = *LeaseKeeper::start(mine_, -1, milliseconds(400));
  EXPECT_TRUE(*keeper.take(compile_key(7)));
  const std::string taken = theirs_.leases()->front().heartbeat;
  while (theirs_.leases()->front().heartbeat == taken)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(*keeper.is_held(compile_key(7)));
}

TEST_F(LeaseKeeperTest, IsToldThatAnotherTookOver) {
  auto keeper = *LeaseKeeper::start(mine_, -1, minutes(1));
  EXPECT_TRUE(*keeper.take(compile_key(7)));
  ASSERT_TRUE(theirs_.release(compile_key(7), theirs_.leases()->front().owner));
  EXPECT_TRUE(*theirs_.try_lease(compile_key(7), "another", minutes(1)));
  EXPECT_FALSE(*keeper.is_held(compile_key(7)));
}

TEST_F(LeaseKeeperTest, WaitingEndsWhenTheTunerIsToldToStop) {
  const FdPair stop = *make_pipe();
  auto keeper = *LeaseKeeper::start(mine_, stop.first.get(), minutes(1));
  EXPECT_TRUE(keeper.wait());
  ASSERT_EQ(::write(stop.second.get(), "x", 1), 1);
  const Status waited = keeper.wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind, ErrorKind::kInterrupted);
}

TEST(LeaseKeys, TellKindsOfWorkApart) {
  EXPECT_EQ(compile_key(7), "compile/7");
  EXPECT_EQ(measure_key(1, 2, "9f3c"), "measure/1/2/9f3c");
}

}  // namespace
}  // namespace hone::trial
