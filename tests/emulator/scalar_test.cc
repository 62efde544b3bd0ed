// Scalar instructions of the census, each with values worked out by hand from the ISA's
// description.
#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

struct ScalarCase {
  const char* text;  // of s0, s1 (64 bits: s[0:1], s[2:3]) into s4
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t result;
  bool scc_before;
  bool scc_after;
};

constexpr std::uint64_t kMinusOne32 = 0xffffffff;

TEST(Scalar, ArithmeticOf32Bits) {
  const ScalarCase cases[] = {
      {"s_mov_b32 s4, s0", 7, 0, 7, true, true},
      {"s_movk_i32 s4, 0x8000", 0, 0, 0xffff8000, false, false},
      {"s_add_u32 s4, s0, s1", kMinusOne32, 2, 1, false, true},
      {"s_addc_u32 s4, s0, s1", 5, 6, 12, true, false},
      {"s_add_i32 s4, s0, s1", 0x7fffffff, 1, 0x80000000, false, true},
      {"s_sub_i32 s4, s0, s1", 0x80000000, 1, 0x7fffffff, false, true},
      {"s_mul_i32 s4, s0, s1", kMinusOne32, 3, 0xfffffffd, true, true},
      {"s_mul_hi_u32 s4, s0, s1", 0x80000000, 6, 3, true, true},
      {"s_lshl3_add_u32 s4, s0, s1", 5, 2, 42, true, false},
      {"s_lshl4_add_u32 s4, s0, s1", 0x10000000, 2, 2, false, true},
      {"s_min_u32 s4, s0, s1", 3, kMinusOne32, 3, false, true},
      {"s_and_b32 s4, s0, s1", 0xc, 0x3, 0, true, false},
      {"s_or_b32 s4, s0, s1", 0xc, 0x3, 0xf, false, true},
      {"s_xor_b32 s4, s0, s1", 0xc, 0xa, 0x6, false, true},
      {"s_lshl_b32 s4, s0, s1", 1, 33, 2, false, true},
      {"s_lshr_b32 s4, s0, s1", 0x80000000, 31, 1, false, true},
      {"s_ashr_i32 s4, s0, s1", 0x80000000, 31, kMinusOne32, false, true},
      {"s_bfe_u32 s4, s0, s1", 0x12345678, 8 | 12 << 16, 0x456, false, true},
      {"s_bfe_i32 s4, s0, s1", 0x0000f000, 12 | 4 << 16, kMinusOne32, false, true},
      {"s_cselect_b32 s4, s0, s1", 5, 6, 5, true, true},
      {"s_cselect_b32 s4, s0, s1", 5, 6, 6, false, false},
      {"s_brev_b32 s4, s0", 1, 0, 0x80000000, true, true},
  };
  for (const ScalarCase& each : cases) {
    SCOPED_TRACE(each.text);
    OneWave wave;
    wave.s(0) = static_cast<std::uint32_t>(each.a);
    wave.s(1) = static_cast<std::uint32_t>(each.b);
    wave->scc = each.scc_before;
    wave.run(each.text);
    EXPECT_EQ(wave.s(4), each.result);
    EXPECT_EQ(wave->scc, each.scc_after);
  }
}

TEST(Scalar, ArithmeticOf64Bits) {
  constexpr std::uint64_t kHigh = std::uint64_t{1} << 63;
  const ScalarCase cases[] = {
      {"s_mov_b64 s[4:5], s[0:1]", kHigh | 3, 0, kHigh | 3, true, true},
      {"s_mov_b64 s[4:5], -1", 0, 0, ~std::uint64_t{0}, true, true},
      {"s_and_b64 s[4:5], s[0:1], s[2:3]", kHigh | 3, kHigh | 4, kHigh, false, true},
      {"s_or_b64 s[4:5], s[0:1], s[2:3]", kHigh, 4, kHigh | 4, false, true},
      {"s_xor_b64 s[4:5], s[0:1], s[2:3]", kHigh, kHigh, 0, true, false},
      {"s_andn2_b64 s[4:5], s[0:1], s[2:3]", kHigh | 3, 1, kHigh | 2, false, true},
      {"s_lshl_b64 s[4:5], s[0:1], s2", 1, 63, kHigh, false, true},
      {"s_lshr_b64 s[4:5], s[0:1], s2", kHigh, 62, 2, false, true},
      {"s_cselect_b64 s[4:5], s[0:1], s[2:3]", kHigh, 4, 4, false, false},
      {"s_cselect_b64 s[4:5], -1, 0", 0, 0, ~std::uint64_t{0}, true, true},
  };
  for (const ScalarCase& each : cases) {
    SCOPED_TRACE(each.text);
    OneWave wave;
    wave->set_scalar64(0, each.a);
    wave->set_scalar64(2, each.b);
    wave->scc = each.scc_before;
    wave.run(each.text);
    EXPECT_EQ(wave.s64(4), each.result);
    EXPECT_EQ(wave->scc, each.scc_after);
  }
}

TEST(Scalar, ConstantsOf16BitsAreAddedAndMultiplied) {
  OneWave wave;
  wave.s(4) = 10;
  wave.run("s_addk_i32 s4, 0xfffd");
  EXPECT_EQ(wave.s(4), 7u);
  wave.run("s_mulk_i32 s4, 0xffff");
  EXPECT_EQ(wave.s(4), static_cast<std::uint32_t>(-7));
}

TEST(Scalar, ComparesSetTheConditionCode) {
  struct Case {
    const char* text;
    std::uint32_t a;
    std::uint32_t b;
    bool holds;
  };
  const Case cases[] = {
      {"s_cmp_eq_u32 s0, s1", 4, 4, true},           {"s_cmp_lg_u32 s0, s1", 4, 4, false},
      {"s_cmp_lt_i32 s0, s1", 0xffffffff, 0, true},  {"s_cmp_lt_u32 s0, s1", 0xffffffff, 0, false},
      {"s_cmp_gt_u32 s0, s1", 0xffffffff, 0, true},  {"s_cmp_gt_i32 s0, s1", 0xffffffff, 0, false},
      {"s_cmpk_lt_u32 s0, 0xffff", 0xfffe, 0, true}, {"s_cmpk_gt_u32 s0, 0xffff", 0x10000, 0, true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.text);
    OneWave wave;
    wave.s(0) = each.a;
    wave.s(1) = each.b;
    wave->scc = !each.holds;
    wave.run(each.text);
    EXPECT_EQ(wave->scc, each.holds);
  }
}

TEST(Scalar, SaveExecutionMaskAndNarrowIt) {
  struct Case {
    const char* text;
    std::uint64_t exec;
  };
  for (const Case& each : {Case{"s_and_saveexec_b64 s[4:5], s[0:1]", 0x08},
                           Case{"s_or_saveexec_b64 s[4:5], s[0:1]", 0x1e},
                           Case{"s_andn2_saveexec_b64 s[4:5], s[0:1]", 0x10}}) {
    SCOPED_TRACE(each.text);
    OneWave wave;
    wave->set_scalar64(kExec, 0x0e);
    wave->set_scalar64(0, 0x18);
    wave.run(each.text);
    EXPECT_EQ(wave.s64(4), 0x0eu);
    EXPECT_EQ(wave->exec(), each.exec);
    EXPECT_TRUE(wave->scc);
  }
}

// Whether a branch over one move is taken.
bool is_taken(const std::string& branch, OneWave& wave) {
  wave.s(9) = 0;
  wave.run_lines({branch + " 1", "s_mov_b32 s9, 1", "s_nop 0"});
  return wave.s(9) == 0;
}

TEST(Scalar, BranchesFollowTheirConditions) {
  OneWave wave;
  EXPECT_TRUE(is_taken("s_branch", wave));
  wave->scc = true;
  EXPECT_TRUE(is_taken("s_cbranch_scc1", wave));
  EXPECT_FALSE(is_taken("s_cbranch_scc0", wave));
  EXPECT_TRUE(is_taken("s_cbranch_vccz", wave));
  EXPECT_FALSE(is_taken("s_cbranch_vccnz", wave));
  EXPECT_TRUE(is_taken("s_cbranch_execnz", wave));
  EXPECT_FALSE(is_taken("s_cbranch_execz", wave));
}

TEST(Scalar, BranchesGoBackToo) {
  OneWave wave;
  wave.run_lines({"s_add_i32 s0, s0, 1", "s_cmp_lt_i32 s0, 5", "s_cbranch_scc1 65533", "s_endpgm"});
  EXPECT_EQ(wave.s(0), 5u);
  EXPECT_EQ(wave->state, Wave::State::kEnded);
}

TEST(Scalar, WaitsAndBarriers) {
  OneWave wave;
  wave.run_lines({"s_waitcnt vmcnt(0) lgkmcnt(0)", "s_nop 7", "s_barrier", "s_mov_b32 s0, 1"});
  EXPECT_EQ(wave->state, Wave::State::kAtBarrier);
  EXPECT_EQ(wave.s(0), 0u);
}

TEST(Scalar, SetregChangesAFieldOfMode) {
  OneWave wave;
  wave.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0");
  EXPECT_EQ(wave->mode, 0xc0u);
  wave.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3");
  EXPECT_EQ(wave->mode, 0xf0u);
  wave.run("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)");
  EXPECT_EQ(wave.s(0), 0xfu);
}

TEST(Scalar, LoadsDwords) {
  OneWave wave;
  std::vector<std::uint32_t> data(16);
  for (std::uint32_t i = 0; i < 16; ++i) data[i] = 100 + i;
  wave.memory().add(data.data(), 64);
  wave->set_scalar64(0, reinterpret_cast<std::uintptr_t>(data.data()));
  wave.run("s_load_dword s4, s[0:1], 0x4");
  EXPECT_EQ(wave.s(4), 101u);
  wave.run("s_load_dwordx2 s[4:5], s[0:1], 0x8");
  EXPECT_EQ(wave.s(5), 103u);
  wave.run("s_load_dwordx4 s[4:7], s[0:1], 0x0");
  EXPECT_EQ(wave.s(7), 103u);
  wave.run("s_load_dwordx8 s[8:15], s[0:1], 0x20");
  EXPECT_EQ(wave.s(15), 115u);
  wave.run("s_load_dword s4, s[0:1], 0x40");
  ASSERT_TRUE(wave->fault.has_value());
  EXPECT_EQ(wave->fault->kind, FaultKind::kMemory);
}

}  // namespace
}  // namespace hone::emulator
