// Instructions that move values between lanes, with DPP's rows, against the lane that the ISA
// names.
#include <functional>

#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

TEST(CrossLane, ReadsAndWritesOneLane) {
  OneWave wave;
  for (std::uint32_t lane = 0; lane < 64; ++lane) wave.v(0, lane) = 100 + lane;
  wave.s(1) = 7;
  wave.run("v_readlane_b32 s2, v0, 63");
  EXPECT_EQ(wave.s(2), 163u);
  wave.run("v_readlane_b32 s2, v0, s1");
  EXPECT_EQ(wave.s(2), 107u);
  wave->set_scalar64(kExec, 0x30);
  wave.run("v_readfirstlane_b32 s2, v0");
  EXPECT_EQ(wave.s(2), 104u);
  wave.run("v_writelane_b32 v0, s2, 1");
  EXPECT_EQ(wave.v(0, 1), 104u) << "also where the lane is inactive";
  EXPECT_EQ(wave.v(0, 2), 102u);
}

// Every lane's source of a DPP move of lane numbers; -1 where the destination was not written.
void expect_moves(const std::string& control, const std::function<int(int)>& from) {
  SCOPED_TRACE(control);
  OneWave wave;
  for (std::uint32_t lane = 0; lane < 64; ++lane) wave.v(0, lane) = lane;
  wave.set_v(1, 0xffffffff);
  wave.run("v_mov_b32_dpp v1, v0 " + control);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(static_cast<int>(wave.v(1, static_cast<std::size_t>(lane))), from(lane))
        << "lane " << lane;
  }
}

TEST(CrossLane, DppMovesWithinRows) {
  const std::string all = " row_mask:0xf bank_mask:0xf";
  expect_moves("quad_perm:[1,0,3,2]" + all, [](int lane) { return lane ^ 1; });
  expect_moves("row_mirror" + all, [](int lane) { return lane ^ 15; });
  expect_moves("row_half_mirror" + all, [](int lane) { return lane ^ 7; });
  expect_moves("row_ror:4" + all, [](int lane) { return (lane & 48) | ((lane + 12) & 15); });
  expect_moves("row_shr:1" + all, [](int lane) { return lane % 16 == 0 ? -1 : lane - 1; });
  expect_moves("row_shl:2" + all, [](int lane) { return lane % 16 >= 14 ? -1 : lane + 2; });
  expect_moves("row_shr:1" + all + " bound_ctrl:0",
               [](int lane) { return lane % 16 == 0 ? 0 : lane - 1; });
  expect_moves("row_bcast:15 row_mask:0xa bank_mask:0xf",
               [](int lane) { return lane / 16 % 2 == 1 ? (lane & 48) - 1 : -1; });
  expect_moves("row_bcast:31 row_mask:0xc bank_mask:0xf",
               [](int lane) { return lane >= 32 ? 31 : -1; });
  expect_moves("row_newbcast:3" + all, [](int lane) { return (lane & 48) + 3; });
  expect_moves("quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0x1",
               [](int lane) { return lane % 16 < 4 ? lane & 60 : -1; });
}

TEST(CrossLane, DppReadsBeforeItWrites) {
  OneWave wave;
  for (std::uint32_t lane = 0; lane < 64; ++lane) wave.v(0, lane) = lane;
  wave.run("v_add_u32_dpp v0, v0, v0 row_mirror row_mask:0xf bank_mask:0xf");
  for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.v(0, lane), lane + (lane ^ 15));
}

TEST(CrossLane, PermutesByAddresses) {
  OneWave wave;
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    wave.v(0, lane) = 4 * ((lane + 5) % 64);
    wave.v(1, lane) = 1000 + lane;
  }
  wave.run("ds_bpermute_b32 v2, v0, v1");
  EXPECT_EQ(wave.v(2, 0), 1005u);
  EXPECT_EQ(wave.v(2, 63), 1004u);
  wave.run("ds_permute_b32 v2, v0, v1");
  EXPECT_EQ(wave.v(2, 5), 1000u);
  EXPECT_EQ(wave.v(2, 4), 1063u);
  wave->set_scalar64(kExec, 1);
  wave.run("ds_bpermute_b32 v2, v0, v1");
  EXPECT_EQ(wave.v(2, 0), 0u) << "the lane that it reads is inactive";
}

TEST(CrossLane, SwizzlesByPatterns) {
  const auto expect = [](const std::string& offset,
                         const std::function<std::uint32_t(std::uint32_t)>& from) {
    SCOPED_TRACE(offset);
    OneWave wave;
    for (std::uint32_t lane = 0; lane < 64; ++lane) wave.v(0, lane) = lane;
    wave.run("ds_swizzle_b32 v1, v0 offset:" + offset);
    for (std::uint32_t lane = 0; lane < 64; ++lane)
      EXPECT_EQ(wave.v(1, lane), from(lane)) << "lane " << lane;
  };
  expect("swizzle(SWAP,16)", [](std::uint32_t lane) { return lane ^ 16; });
  expect("swizzle(REVERSE,8)", [](std::uint32_t lane) { return lane ^ 7; });
  expect("swizzle(BROADCAST,8,3)", [](std::uint32_t lane) { return (lane & ~7u) | 3; });
  expect("swizzle(QUAD_PERM,3,2,1,0)", [](std::uint32_t lane) { return lane ^ 3; });
  expect("swizzle(BITMASK_PERM,\"0pp1i\")",
         [](std::uint32_t lane) { return (lane & 32) | (lane & 12) | 2 | (~lane & 1); });
  expect("0x401f", [](std::uint32_t lane) { return lane ^ 16; });
}

TEST(CrossLane, CountsBitsBelowALane) {
  OneWave wave;
  wave.run_lines({"v_mbcnt_lo_u32_b32 v0, -1, 0", "v_mbcnt_hi_u32_b32 v0, -1, v0"});
  for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.v(0, lane), lane);
}

}  // namespace
}  // namespace hone::emulator
