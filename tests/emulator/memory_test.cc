// Local and vector memory: loads, stores, atomics, ends of buffers and faults.
#include <array>
#include <cstring>

#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

TEST(LocalMemory, WritesAndReadsPartsAndSeveralDwords) {
  OneWave wave;
  wave->set_scalar64(kExec, 1);
  wave.set_v(0, 16);
  for (std::size_t i = 0; i < 4; ++i)
    wave.set_v(4 + i, static_cast<std::uint32_t>(0x11111111 * (i + 1)));
  wave.run("ds_write_b32 v0, v4");
  EXPECT_EQ(wave.lds_dword(16), 0x11111111u);
  wave.run("ds_write_b64 v0, v[5:6] offset:8");
  EXPECT_EQ(wave.lds_dword(24), 0x22222222u);
  EXPECT_EQ(wave.lds_dword(28), 0x33333333u);
  wave.run("ds_write_b16 v0, v7 offset:1");
  EXPECT_EQ(wave.lds_dword(16), 0x11444411u);
  wave.run("ds_write_b8 v0, v5");
  EXPECT_EQ(wave.lds_dword(16), 0x11444422u);
  wave.run("ds_write_b128 v0, v[4:7]");
  wave.run("ds_write2_b32 v0, v4, v5 offset0:8 offset1:9");
  EXPECT_EQ(wave.lds_dword(48), 0x11111111u);
  EXPECT_EQ(wave.lds_dword(52), 0x22222222u);
  wave.run("ds_write2_b64 v0, v[4:5], v[6:7] offset0:8 offset1:10");
  EXPECT_EQ(wave.lds_dword(80), 0x11111111u);
  EXPECT_EQ(wave.lds_dword(100), 0x44444444u);
  wave.run("ds_write2st64_b32 v0, v4, v5 offset0:1 offset1:2");
  EXPECT_EQ(wave.lds_dword(16 + 512), 0x22222222u);

  wave.run("ds_read_b128 v[8:11], v0");
  EXPECT_EQ(wave.v(11), 0x44444444u);
  wave.run("ds_read_b32 v8, v0 offset:4");
  EXPECT_EQ(wave.v(8), 0x22222222u);
  wave.run("ds_read_b64 v[8:9], v0 offset:8");
  EXPECT_EQ(wave.v64(8), 0x4444444433333333u);
  wave.run("ds_read_u8 v8, v0 offset:3");
  EXPECT_EQ(wave.v(8), 0x11u);
  wave.run("ds_read_u16 v8, v0 offset:3");
  EXPECT_EQ(wave.v(8), 0x2211u);
  wave.run("ds_read2_b32 v[8:9], v0 offset0:8 offset1:9");
  EXPECT_EQ(wave.v64(8), 0x2222222211111111u);
  wave.run("ds_read2_b64 v[8:11], v0 offset0:8 offset1:10");
  EXPECT_EQ(wave.v64(8), 0x2222222211111111u);
  EXPECT_EQ(wave.v64(10), 0x4444444433333333u);
  wave.set_lds_dword(16 + 512, 77);
  wave.run("ds_read2st64_b64 v[8:11], v0 offset0:0 offset1:1");
  EXPECT_EQ(wave.v(10), 77u);
  EXPECT_EQ(wave->state, Wave::State::kRunning);
}

TEST(LocalMemory, ALoadMayOverwriteItsAddress) {
  OneWave wave;
  for (std::uint32_t lane = 0; lane < 64; ++lane) wave.v(0, lane) = 8 * (63 - lane);
  for (std::uint32_t i = 0; i < 128; ++i) wave.set_lds_dword(4 * i, i);
  wave.run("ds_read_b64 v[0:1], v0");
  for (std::uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.v(1, lane), 2 * (63 - lane) + 1);
}

TEST(LocalMemory, AnAccessBeyondTheWorkgroupsIsAFault) {
  OneWave wave;  // 1024 bytes
  wave.set_v(0, 1021);
  wave.run("ds_read_b32 v1, v0");
  ASSERT_TRUE(wave->fault.has_value());
  EXPECT_EQ(wave->fault->kind, FaultKind::kLds);
  EXPECT_EQ(wave->fault->words,
            "local memory: 4 bytes at offset 1021 of a workgroup that has 1024");
}

// As code is verified: it may be right if it does not use what it reads there.
TEST(LocalMemory, AccessesBeyondItMayGiveNaNInTheFaultsPlace) {
  OneWave wave;  // 1024 bytes
  wave->faults_beyond_local = false;
  wave.set_v(0, 1020);
  wave.set_v(4, 7);
  wave.run("ds_write_b32 v0, v4");
  wave.run("ds_write_b32 v0, v4 offset:4");
  wave.run("ds_read_b64 v[2:3], v0");
  EXPECT_FALSE(wave->fault.has_value());
  EXPECT_EQ(wave.v(2), 0xffffffffu) << "half of it lies beyond";
  EXPECT_EQ(wave.v(3), 0xffffffffu);
  EXPECT_EQ(wave.lds_dword(1020), 7u);
}

TEST(LocalMemory, AtomicsAreDoneLaneByLane) {
  OneWave wave;
  wave.set_lds_dword(16, 5);
  wave.set_v(0, 16);
  wave.set_v(1, 2);
  wave.run("ds_add_rtn_u32 v2, v0, v1");
  EXPECT_EQ(wave.lds_dword(16), 5u + 128);
  EXPECT_EQ(wave.v(2, 0), 5u);
  EXPECT_EQ(wave.v(2, 63), 5u + 126);
  wave.set_lds_dword(16, bits(0));
  wave.set_v(1, bits(0.5f));
  wave.run("ds_add_f32 v0, v1");
  EXPECT_EQ(number(wave.lds_dword(16)), 32);
  wave->set_scalar64(kExec, 1);
  wave.set_v(1, bits(32));
  wave.set_v(2, 9);
  wave.run("ds_cmpst_rtn_b32 v3, v0, v1, v2");
  EXPECT_EQ(wave.lds_dword(16), 9u);
}

// Memory of 256 dwords with their indices, and a buffer of the first 64 of them in s[0:3].
class VectorMemory : public testing::Test {
 protected:
  VectorMemory() {
    for (std::uint32_t i = 0; i < 256; ++i) data_[i] = i;
    wave_.memory().add(data_.data(), sizeof data_);
    wave_->set_scalar64(0, address());
    wave_.s(2) = 256;
    wave_.s(3) = 0x27000;
    wave_->set_scalar64(4, address());
    for (std::uint32_t lane = 0; lane < 64; ++lane) wave_.v(0, lane) = 4 * lane;
    wave_.set_v64(2, address() + 400);
  }
  std::uint64_t address() { return reinterpret_cast<std::uintptr_t>(data_.data()); }

  std::array<std::uint32_t, 256> data_{};
  OneWave wave_;
};

TEST_F(VectorMemory, BuffersLoadAndStoreWithinTheirEnds) {
  wave_.run("buffer_load_dword v8, v0, s[0:3], 0 offen");
  EXPECT_EQ(wave_.v(8, 63), 63u);
  wave_.run("buffer_load_dword v8, v0, s[0:3], 0 offen offset:8");
  EXPECT_EQ(wave_.v(8, 61), 63u);
  EXPECT_EQ(wave_.v(8, 62), 0u) << "beyond the end";
  wave_.run("buffer_load_dwordx2 v[8:9], v0, s[0:3], 0 offen");
  EXPECT_EQ(wave_.v(9, 0), 1u);
  EXPECT_EQ(wave_.v(9, 63), 0u);
  wave_.run("buffer_load_dwordx4 v[8:11], v0, s[0:3], 0 offen");
  EXPECT_EQ(wave_.v(11, 60), 63u);
  EXPECT_EQ(wave_.v(11, 61), 0u);
  wave_.s(8) = 4;
  wave_.run("buffer_load_dword v8, off, s[0:3], s8");
  EXPECT_EQ(wave_.v(8, 5), 1u);
  data_[0] = 0xfedcba98;
  wave_.run("buffer_load_ushort v8, off, s[0:3], 0 offset:1");
  EXPECT_EQ(wave_.v(8), 0xdcbau);
  wave_.run("buffer_store_dword v0, v0, s[0:3], 0 offen");
  EXPECT_EQ(data_[63], 252u);
  wave_.run("buffer_store_dwordx2 v[0:1], v0, s[0:3], 0 offen offset:252");
  EXPECT_EQ(data_[63], 0u);
  EXPECT_EQ(data_[64], 64u) << "beyond the end";
  wave_->set_scalar64(kExec, 1);
  wave_.run("buffer_store_dwordx4 v[0:3], v0, s[0:3], 0 offen");
  EXPECT_EQ(data_[2], static_cast<std::uint32_t>(address() + 400));
  wave_.set_v(9, 0x12345678);
  wave_.run("buffer_store_short v9, v0, s[0:3], 0 offen");
  EXPECT_EQ(data_[0] & 0xffff, 0x5678u);
  EXPECT_FALSE(wave_->fault.has_value());
}

TEST_F(VectorMemory, ABuffersOffsetsAddModulo32Bits) {
  wave_.set_v(1, static_cast<std::uint32_t>(-40));
  wave_.run("buffer_load_dword v8, v1, s[0:3], 0 offen offset:48");
  EXPECT_EQ(wave_.v(8), 2u);
  wave_.run("buffer_load_dword v8, v1, s[0:3], 0 offen offset:16");
  EXPECT_EQ(wave_.v(8), 0u) << "before the begin";
}

TEST_F(VectorMemory, GlobalMemoryByVectorOrScalarAddress) {
  wave_.run("global_load_dword v8, v0, s[4:5] offset:8");
  EXPECT_EQ(wave_.v(8, 3), 5u);
  wave_.run("global_load_dword v8, v[2:3], off offset:-400");
  EXPECT_EQ(wave_.v(8, 3), 0u);
  wave_.run("global_load_dwordx2 v[8:9], v[2:3], off");
  EXPECT_EQ(wave_.v64(8), 0x6500000064u);
  wave_.run("global_load_ubyte v8, v[2:3], off");
  EXPECT_EQ(wave_.v(8), 100u);
  wave_.run("global_load_ushort v8, v0, s[4:5]");
  EXPECT_EQ(wave_.v(8, 9), 9u);
  wave_.run("global_store_dword v0, v0, s[4:5] offset:4");
  EXPECT_EQ(data_[64], 252u);
  wave_->set_scalar64(kExec, 2);
  wave_.run("global_store_dwordx2 v[2:3], v[2:3], off");
  EXPECT_EQ(data_[100], static_cast<std::uint32_t>(address() + 400));
  EXPECT_FALSE(wave_->fault.has_value());
}

TEST_F(VectorMemory, AtomicsAddAndReturn) {
  wave_.set_v(6, bits(0.25f));
  data_[100] = bits(1);
  wave_.run("global_atomic_add_f32 v[2:3], v6, off");
  EXPECT_EQ(number(data_[100]), 17);
  data_[1] = 10;
  wave_.set_v(7, 0);
  wave_.set_v(6, 1);
  wave_.run("global_atomic_add v8, v7, v6, s[4:5] offset:4 sc0");
  EXPECT_EQ(data_[1], 74u);
  EXPECT_EQ(wave_.v(8, 63), 73u);
  wave_.run("buffer_atomic_add v6, off, s[0:3], 0 offset:4");
  EXPECT_EQ(data_[1], 138u);
}

TEST_F(VectorMemory, AnAddressOutsideAllocationsFaultsAsOnAGpu) {
  wave_.set_v64(2, address() + sizeof data_);
  wave_.run("global_load_dword v8, v[2:3], off");
  ASSERT_TRUE(wave_->fault.has_value());
  EXPECT_EQ(wave_->fault->kind, FaultKind::kMemory);
  EXPECT_EQ(wave_->fault->address, address() + sizeof data_);
  EXPECT_EQ(wave_->fault->words.substr(0, 34), "Memory access fault by GPU node-1 ");
}

TEST_F(VectorMemory, LoadsToLocalMemoryPutLanesSideBySide) {
  wave_.s(kM0) = 256;
  wave_.run("buffer_load_dword v0, s[0:3], 0 offen lds");
  EXPECT_EQ(wave_.lds_dword(256 + 4 * 17), 17u);
  wave_.run("global_load_lds_dword v[2:3], off");
  EXPECT_EQ(wave_.lds_dword(256 + 4 * 17), 100u);
}

TEST_F(VectorMemory, PrivateMemoryBelongsToALane) {
  wave_->scratch_lane_bytes = 16;
  wave_->scratch.resize(16 * kLanes);
  wave_.run("scratch_store_dword off, v0, off offset:8");
  wave_.run("scratch_load_dword v9, off, off offset:8");
  EXPECT_EQ(wave_.v(9, 33), 4u * 33);
  wave_.run("scratch_load_dword v9, off, off offset:16");
  ASSERT_TRUE(wave_->fault.has_value());
  EXPECT_EQ(wave_->fault->kind, FaultKind::kScratch);
}

TEST_F(VectorMemory, FlatAddressesReachAllMemories) {
  wave_.set_lds_dword(12, 99);
  wave_.set_v64(4, kSharedBase + 12);
  wave_.run("flat_load_dword v8, v[4:5]");
  EXPECT_EQ(wave_.v(8), 99u);
  wave_.run("flat_load_dword v8, v[2:3]");
  EXPECT_EQ(wave_.v(8), 100u);
}

}  // namespace
}  // namespace hone::emulator
