// Vector instructions of the census in one lane's values, worked out by hand from the ISA's
// description.
#include <cmath>
#include <limits>

#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

struct LaneCase {
  const char* text;  // of v0, v1, v2 into v3
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;
  std::uint32_t result;
};

void expect_lanes(std::initializer_list<LaneCase> cases) {
  for (const LaneCase& each : cases) {
    SCOPED_TRACE(each.text);
    OneWave wave;
    wave.set_v(0, each.a);
    wave.set_v(1, each.b);
    wave.set_v(2, each.c);
    wave->set_scalar64(kExec, 0x8000000000000001);
    wave.run(each.text);
    EXPECT_EQ(wave.v(3, 0), each.result);
    EXPECT_EQ(wave.v(3, 63), each.result);
    EXPECT_EQ(wave.v(3, 1), 0u) << "written though inactive";
  }
}

constexpr std::uint32_t kNan = 0x7fc00000;

TEST(Vector, IntegersOf32Bits) {
  expect_lanes({
      {"v_mov_b32_e32 v3, v0", 7, 0, 0, 7},
      {"v_mov_b32_e32 v3, 0.5", 0, 0, 0, bits(0.5f)},
      {"v_mov_b32_e32 v3, 0x12345678", 0, 0, 0, 0x12345678},
      {"v_not_b32_e32 v3, v0", 0xf0f0f0f0, 0, 0, 0x0f0f0f0f},
      {"v_and_b32_e32 v3, v0, v1", 0xc, 0xa, 0, 0x8},
      {"v_or_b32_e32 v3, v0, v1", 0xc, 0xa, 0, 0xe},
      {"v_xor_b32_e32 v3, v0, v1", 0xc, 0xa, 0, 0x6},
      {"v_and_or_b32 v3, v0, v1, v2", 0xc, 0xa, 0x10, 0x18},
      {"v_or3_b32 v3, v0, v1, v2", 1, 2, 4, 7},
      {"v_bfi_b32 v3, v0, v1, v2", 0xff00, 0xaaaa, 0x5555, 0xaa55},
      {"v_bfe_u32 v3, v0, v1, v2", 0x12345678, 8, 12, 0x456},
      {"v_bfe_i32 v3, v0, v1, v2", 0x0000f000, 12, 4, 0xffffffff},
      {"v_perm_b32 v3, v0, v1, v2", 0x07060504, 0x03020100, 0x0c0d0407, 0x00ff0407},
      {"v_perm_b32 v3, v0, v1, v2", 0x0b0a0908, 0x13121110, 0x05040100, 0x09081110},
      {"v_bfrev_b32_e32 v3, v0", 0x00000003, 0, 0, 0xc0000000},
      {"v_lshlrev_b32_e32 v3, v0, v1", 33, 3, 0, 6},
      {"v_lshrrev_b32_e32 v3, v0, v1", 4, 0xf0, 0, 0xf},
      {"v_ashrrev_i32_e32 v3, v0, v1", 31, 0x80000000, 0, 0xffffffff},
      {"v_lshl_or_b32 v3, v0, v1, v2", 3, 4, 1, 0x31},
      {"v_lshl_add_u32 v3, v0, v1, v2", 3, 4, 1, 0x31},
      {"v_add_lshl_u32 v3, v0, v1, v2", 3, 4, 2, 28},
      {"v_add_u32_e32 v3, v0, v1", 0xffffffff, 3, 0, 2},
      {"v_add_u32_e64 v3, v0, v1 clamp", 0xffffffff, 3, 0, 0xffffffff},
      {"v_sub_u32_e32 v3, v0, v1", 3, 5, 0, 0xfffffffe},
      {"v_add3_u32 v3, v0, v1, v2", 1, 2, 0xffffffff, 2},
      {"v_xad_u32 v3, v0, v1, v2", 0xc, 0xa, 1, 7},
      {"v_mul_lo_u32 v3, v0, v1", 0x10001, 0x10001, 0, 0x20001},
      {"v_mul_hi_u32 v3, v0, v1", 0x80000000, 6, 0, 3},
      {"v_mul_u32_u24_e32 v3, v0, v1", 0x01000003, 5, 0, 15},
      {"v_mad_u32_u24 v3, v0, v1, v2", 0x01000003, 5, 1, 16},
      {"v_min_u32_e32 v3, v0, v1", 0xffffffff, 3, 0, 3},
      {"v_max_i32_e32 v3, v0, v1", 0xffffffff, 3, 0, 3},
      {"v_lshlrev_b16_e32 v3, v0, v1", 4, 0xabcd1234, 0, 0x2340},
  });
}

TEST(Vector, IntegersOf64Bits) {
  OneWave wave;
  wave.set_v64(0, 0x1ffffffff);
  wave.set_v64(2, 5);
  wave.run("v_lshl_add_u64 v[4:5], v[0:1], 3, v[2:3]");
  EXPECT_EQ(wave.v64(4), 0xffffffff8u + 5);
  wave.run("v_lshlrev_b64 v[4:5], v2, v[0:1]");
  EXPECT_EQ(wave.v64(4), 0x3fffffffe0u);
  wave.run("v_mov_b64_e32 v[4:5], v[0:1]");
  EXPECT_EQ(wave.v64(4), 0x1ffffffffu);
  wave.set_v(6, 0xffffffff);
  wave.run("v_mad_u64_u32 v[4:5], s[0:1], v6, v6, v[2:3]");
  EXPECT_EQ(wave.v64(4), 0xfffffffe00000001u + 5);
  EXPECT_EQ(wave.s64(0), 0u);
}

TEST(Vector, CarriesAndBorrowsByLane) {
  OneWave wave;
  wave.set_v(0, 0xffffffff);
  wave.set_v(1, 1);
  wave.v(0, 1) = 5;
  wave->set_scalar64(kExec, 3);
  wave.run("v_add_co_u32_e32 v3, vcc, v0, v1");
  EXPECT_EQ(wave.v(3, 0), 0u);
  EXPECT_EQ(wave.v(3, 1), 6u);
  EXPECT_EQ(wave.s64(kVcc), 1u);
  wave.run("v_addc_co_u32_e32 v4, vcc, v1, v1, vcc");
  EXPECT_EQ(wave.v(4, 0), 3u);
  EXPECT_EQ(wave.v(4, 1), 2u);
  EXPECT_EQ(wave.s64(kVcc), 0u);
  wave.run("v_sub_co_u32_e64 v3, s[0:1], v1, v0");
  EXPECT_EQ(wave.v(3, 0), 2u);
  EXPECT_EQ(wave.s64(0), 3u);
  wave.run("v_subb_co_u32_e64 v4, s[2:3], v1, v1, s[0:1]");
  EXPECT_EQ(wave.v(4, 0), 0xffffffffu);
  EXPECT_EQ(wave.s64(2), 3u);
}

TEST(Vector, FloatsOf32Bits) {
  const float big = 16777216;  // 2^24: one is half an ulp
  expect_lanes({
      {"v_add_f32_e32 v3, v0, v1", bits(1.5f), bits(2.25f), 0, bits(3.75f)},
      {"v_add_f32_e64 v3, -v0, |v1|", bits(1.5f), bits(-2.25f), 0, bits(0.75f)},
      {"v_add_f32_e64 v3, v0, v1 clamp", bits(1.5f), bits(2.25f), 0, bits(1.0f)},
      {"v_add_f32_e64 v3, v0, v1 mul:4", bits(1.5f), bits(2.25f), 0, bits(15.0f)},
      {"v_add_f32_e32 v3, v0, v1", bits(big), bits(1.0f), 0, bits(big)},
      {"v_sub_f32_e32 v3, v0, v1", bits(1.5f), bits(2.25f), 0, bits(-0.75f)},
      {"v_mul_f32_e32 v3, 0.15915494, v0", bits(2.0f), 0, 0, bits(0.31830988f)},
      {"v_fma_f32 v3, v0, v1, v2", bits(big), bits(1.0f), bits(1.0f), bits(big)},
      {"v_fma_f32 v3, v0, v1, -v2", bits(3.0f), bits(5.0f), bits(1.0f), bits(14.0f)},
      {"v_fmac_f32_e32 v3, v0, v1", bits(3.0f), bits(5.0f), 0, bits(15.0f)},
      {"v_fmaak_f32 v3, v0, v1, 0x40000000", bits(3.0f), bits(5.0f), 0, bits(17.0f)},
      {"v_fmamk_f32 v3, v0, 0x40000000, v1", bits(3.0f), bits(5.0f), 0, bits(11.0f)},
      {"v_min_f32_e32 v3, v0, v1", kNan, bits(5.0f), 0, bits(5.0f)},
      {"v_max_f32_e32 v3, v0, v1", bits(-0.0f), bits(0.0f), 0, bits(0.0f)},
      {"v_max3_f32 v3, v0, v1, v2", bits(1.0f), kNan, bits(2.0f), bits(2.0f)},
      {"v_med3_f32 v3, v0, v1, v2", bits(3.0f), bits(1.0f), bits(2.0f), bits(2.0f)},
      {"v_med3_f32 v3, v0, v1, v2", kNan, bits(1.0f), bits(2.0f), bits(1.0f)},
      {"v_rndne_f32_e32 v3, v0", bits(2.5f), 0, 0, bits(2.0f)},
      {"v_exp_f32_e32 v3, v0", bits(-3.0f), 0, 0, bits(0.125f)},
      {"v_log_f32_e32 v3, v0", bits(8.0f), 0, 0, bits(3.0f)},
      {"v_rcp_f32_e32 v3, v0", bits(-4.0f), 0, 0, bits(-0.25f)},
      {"v_rcp_f32_e32 v3, v0", 0x80000000, 0, 0, 0xff800000},
      {"v_rsq_f32_e32 v3, v0", bits(16.0f), 0, 0, bits(0.25f)},
      {"v_sqrt_f32_e32 v3, v0", bits(16.0f), 0, 0, bits(4.0f)},
      {"v_ldexp_f32 v3, v0, v1", bits(1.5f), 0xfffffffe, 0, bits(0.375f)},
      {"v_cndmask_b32_e64 v3, v0, -v1, s[2:3]", bits(1.0f), bits(2.0f), 0, bits(1.0f)},
  });
}

TEST(Vector, SubnormalsFollowMode) {
  OneWave wave;
  wave.set_v(0, 0x00000001);
  wave.run("v_add_f32_e32 v3, v0, v0");
  EXPECT_EQ(wave.v(3), 2u);
  wave->mode = 0xd0;  // results flushed
  wave.run("v_add_f32_e32 v3, v0, v0");
  EXPECT_EQ(wave.v(3), 0u);
  wave->mode = 0xe0;  // sources flushed
  wave.set_v(1, bits(0x1p126f));
  wave.run("v_mul_f32_e32 v3, v0, v1");
  EXPECT_EQ(wave.v(3), 0u);
  wave->mode = 0xf0;
  wave.run("v_mul_f32_e32 v3, v0, v1");
  EXPECT_EQ(wave.v(3), bits(0x1p-23f));
}

TEST(Vector, RoundingFollowsMode) {
  OneWave wave;
  wave.set_v(0, bits(1.0f));
  wave.set_v(1, bits(0x1p-30f));
  const auto sum = [&](std::uint32_t mode) {
    wave->mode = 0xf0 | mode;
    wave.run("v_add_f32_e32 v3, v0, v1");
    return number(wave.v(3));
  };
  EXPECT_EQ(sum(0), 1.0f);
  EXPECT_EQ(sum(1), 1.0f + 0x1p-23f) << "up";
  EXPECT_EQ(sum(2), 1.0f) << "down";
  EXPECT_EQ(sum(4), 1.0f) << "of f16 and f64 only";
  wave->mode = 0xf4;
  wave.run("v_cvt_f16_f32_e32 v3, v1");
  EXPECT_EQ(wave.v(3), 1u);
  wave.set_v64(4, std::bit_cast<std::uint64_t>(1.0));
  wave.set_v64(6, std::bit_cast<std::uint64_t>(0x1p-60));
  wave.run("v_add_f64 v[8:9], v[4:5], v[6:7]");
  EXPECT_EQ(std::bit_cast<double>(wave.v64(8)), 1.0 + 0x1p-52);
}

// A quotient by the sequence that the compiler makes of a division.
float quotient(float a, float b) {
  OneWave wave;
  wave.set_v(0, bits(a));
  wave.set_v(1, bits(b));
  wave.run_lines({"v_div_scale_f32 v2, s[0:1], v1, v1, v0", "v_rcp_f32_e32 v3, v2",
                  "v_fma_f32 v4, -v2, v3, 1.0", "v_fmac_f32_e32 v3, v4, v3",
                  "v_div_scale_f32 v4, vcc, v0, v1, v0", "v_mul_f32_e32 v5, v4, v3",
                  "v_fma_f32 v6, -v2, v5, v4", "v_fmac_f32_e32 v5, v6, v3",
                  "v_fma_f32 v2, -v2, v5, v4", "v_div_fmas_f32 v2, v2, v3, v5",
                  "v_div_fixup_f32 v0, v2, v1, v0"});
  return number(wave.v(0));
}

TEST(Vector, DivisionIsCorrectlyRounded) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {1.0f, 3.0f, -7.5f, 1e-38f, 3e38f, 1.17549435e-38f, 1e-40f, 6.5e20f, 0.1f};
  for (const float a : values) {
    for (const float b : values) {
      SCOPED_TRACE(fmt::format("{} / {}", a, b));
      EXPECT_EQ(quotient(a, b), a / b);
    }
  }
  EXPECT_EQ(quotient(1, 0), infinity);
  EXPECT_EQ(quotient(-1, infinity), 0);
  EXPECT_TRUE(std::isnan(quotient(0, 0)));
}

TEST(Vector, Conversions) {
  expect_lanes({
      {"v_cvt_i32_f32_e32 v3, v0", bits(-2.9f), 0, 0, static_cast<std::uint32_t>(-2)},
      {"v_cvt_i32_f32_e32 v3, v0", bits(3e9f), 0, 0, 0x7fffffff},
      {"v_cvt_i32_f32_e32 v3, v0", kNan, 0, 0, 0},
      {"v_cvt_f16_f32_e32 v3, v0", bits(1.0f + 0x1p-11f), 0, 0, 0x3c00},
      {"v_cvt_f16_f32_e32 v3, v0", bits(65520.0f), 0, 0, 0x7c00},
      {"v_cvt_f16_f32_e32 v3, v0", bits(0x1p-24f), 0, 0, 0x0001},
      {"v_cvt_f32_f16_e32 v3, v0", 0xffff0001, 0, 0, bits(0x1p-24f)},
      {"v_cvt_f32_f16_sdwa v3, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0x3c000000,
       0, 0, bits(1.0f)},
      {"v_pack_b32_f16 v3, v0, v1", 0x11112222, 0x33334444, 0, 0x44442222},
      {"v_pack_b32_f16 v3, v0, v1 op_sel:[1,0,0]", 0x11112222, 0x33334444, 0, 0x44441111},
      {"v_cvt_pk_fp8_f32 v3, v0, v1", bits(1.0f), bits(-240.0f), 0, 0xff40},
      {"v_cvt_pk_bf8_f32 v3, v0, v1 op_sel:[0,0,1]", bits(1.0f), bits(-0.0f), 0, 0x00400000},
      {"v_cvt_f32_fp8_e32 v3, v0", 0x40, 0, 0, bits(1.0f)},
      {"v_cvt_f32_bf8_sdwa v3, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1", 0x4000, 0,
       0, bits(1.0f)},
  });
}

// The lanes of a comparison in vcc: lane 0 has (a, b), lane 1 (b, a), lane 2 (a, a).
std::uint64_t comparison(const std::string& name, std::uint64_t a, std::uint64_t b) {
  OneWave wave;
  const bool wide = name.ends_with("64");
  const std::uint64_t pairs[3][2] = {{a, b}, {b, a}, {a, a}};
  for (std::size_t lane = 0; lane < 3; ++lane) {
    for (std::size_t side = 0; side < 2; ++side) {
      wave.v(2 * side, lane) = static_cast<std::uint32_t>(pairs[lane][side]);
      wave.v(2 * side + 1, lane) = static_cast<std::uint32_t>(pairs[lane][side] >> 32);
    }
  }
  wave->set_scalar64(kExec, 7);
  wave.run(name + (wide ? "_e32 vcc, v[0:1], v[2:3]" : "_e32 vcc, v0, v2"));
  return wave.s64(kVcc);
}

TEST(Vector, Comparisons) {
  const std::uint64_t minus_one = ~std::uint64_t{0};
  EXPECT_EQ(comparison("v_cmp_gt_i32", 0xffffffff, 1), 0b010u);
  EXPECT_EQ(comparison("v_cmp_gt_u32", 0xffffffff, 1), 0b001u);
  EXPECT_EQ(comparison("v_cmp_lt_u32", 0xffffffff, 1), 0b010u);
  EXPECT_EQ(comparison("v_cmp_ne_u32", 2, 1), 0b011u);
  EXPECT_EQ(comparison("v_cmp_eq_u32", 2, 1), 0b100u);
  EXPECT_EQ(comparison("v_cmp_gt_u64", minus_one, 1), 0b001u);
  EXPECT_EQ(comparison("v_cmp_lt_i64", minus_one, 1), 0b001u);
  EXPECT_EQ(comparison("v_cmp_le_u64", minus_one, 1), 0b110u);
  EXPECT_EQ(comparison("v_cmp_ne_u64", minus_one, 1), 0b011u);
  EXPECT_EQ(comparison("v_cmp_lt_f32", bits(1), bits(2)), 0b001u);
  EXPECT_EQ(comparison("v_cmp_gt_f32", bits(1), bits(2)), 0b010u);
  EXPECT_EQ(comparison("v_cmp_nlt_f32", bits(1), bits(2)), 0b110u);
  EXPECT_EQ(comparison("v_cmp_ngt_f32", bits(1), kNan), 0b111u);
  EXPECT_EQ(comparison("v_cmp_u_f32", bits(1), kNan), 0b011u);
  OneWave wave;
  wave.set_v(0, 0x7f800000);
  wave.run("v_cmp_class_f32_e64 s[0:1], v0, 0x200");
  EXPECT_EQ(wave.s64(0), ~std::uint64_t{0});
}

TEST(Vector, FloatsOf16Bits) {
  expect_lanes({
      {"v_add_f16_e32 v3, v0, v1", half(1.5f), half(2.25f), 0, half(3.75f)},
      {"v_add_f16_e64 v3, -v0, 1.0", half(1.5f), 0, 0, half(-0.5f)},
      {"v_mul_f16_e32 v3, v0, v1", half(3), half(0x1p-15f), 0, half(0x1.8p-14f)},
      {"v_fmac_f16_e32 v3, v0, v1", half(3), half(5), 0, half(15)},
      {"v_fma_f16 v3, v0, v1, v2 op_sel:[1,0,0,1]", halves(0, 3), half(5), half(1), half(16) << 16},
      {"v_max_f16_e32 v3, v0, v1", half(3), half(5), 0, half(5)},
      {"v_exp_f16_e32 v3, v0", half(-3), 0, 0, half(0.125f)},
      {"v_ldexp_f16_e32 v3, v0, v1", half(3), 2, 0, half(12)},
  });
}

// 0x3e00 is 1.5 in f16; constants are of the width that op_sel_hi says.
TEST(Vector, MixedFloats) {
  expect_lanes({
      {"v_fma_mix_f32 v3, v0, v1, v2", bits(1.5f), bits(2.0f), bits(3.0f), bits(6.0f)},
      {"v_fma_mix_f32 v3, v0, v1, v2 op_sel_hi:[1,0,0]", 0x3e00, bits(2.0f), bits(3.0f),
       bits(6.0f)},
      {"v_fma_mix_f32 v3, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,0]", 0x3e000000, bits(2.0f),
       bits(3.0f), bits(6.0f)},
      {"v_fma_mix_f32 v3, v0, 2.0, v2 op_sel_hi:[1,1,0]", 0x3e00, 0, bits(3.0f), bits(6.0f)},
      {"v_fma_mix_f32 v3, -v0, 2.0, -v2 op_sel_hi:[0,1,1]", bits(1.5f), 0, 0x3e00, bits(-4.5f)},
      {"v_fma_mix_f32 v3, v0, 2.0, 1.0", bits(1.5f), 0, 0, bits(4.0f)},
  });
}

TEST(Vector, FloatsOf64Bits) {
  OneWave wave;
  const auto expect = [&](const char* text, double result) {
    SCOPED_TRACE(text);
    wave.set_v64(0, std::bit_cast<std::uint64_t>(1.5));
    wave.set_v64(2, std::bit_cast<std::uint64_t>(-2.25));
    wave.set_v64(4, std::bit_cast<std::uint64_t>(4.0));
    wave.run(text);
    EXPECT_EQ(std::bit_cast<double>(wave.v64(6)), result);
  };
  expect("v_add_f64 v[6:7], v[0:1], v[2:3]", -0.75);
  expect("v_add_f64 v[6:7], v[0:1], |v[2:3]|", 3.75);
  expect("v_mul_f64 v[6:7], v[0:1], 0.5", 0.75);
  expect("v_mul_f64 v[6:7], v[0:1], 0x40000000", 3);
  expect("v_fma_f64 v[6:7], v[0:1], v[2:3], -v[4:5]", -7.375);
  expect("v_max_f64 v[6:7], v[0:1], v[2:3]", 1.5);
  expect("v_rsq_f64_e32 v[6:7], v[4:5]", 0.5);
  expect("v_ldexp_f64 v[6:7], v[0:1], 3", 12);
  expect("v_fract_f64_e32 v[6:7], v[2:3]", 0.75);
  wave.run("v_cvt_f32_f64_e32 v8, v[0:1]");
  EXPECT_EQ(number(wave.v(8)), 1.5f);
  wave.run("v_cvt_i32_f64_e32 v8, v[2:3]");
  EXPECT_EQ(static_cast<std::int32_t>(wave.v(8)), -2);
}

TEST(Vector, DotProducts) {
  expect_lanes({
      {"v_dot4_i32_i8 v3, v0, v1, v2", 0x010203ff, 0x02020202, 100, 110},
      {"v_dot2_f32_f16 v3, v0, v1, v2", halves(2, 3), halves(5, 7), bits(1), bits(32)},
      {"v_dot8_u32_u4 v3, v0, v1, v2", 0x11111111, 0x12345678, 0, 36},
  });
}

TEST(Vector, PackedF16) {
  expect_lanes({
      {"v_pk_mul_f16 v3, v0, v1", halves(2, 3), halves(5, -7), 0, halves(10, -21)},
      {"v_pk_mul_f16 v3, v0, v1 op_sel_hi:[0,1]", halves(2, 3), halves(5, -7), 0, halves(10, -14)},
      {"v_pk_mul_f16 v3, v0, 2.0 op_sel_hi:[1,0]", halves(2, 3), 0, 0, halves(4, 6)},
      {"v_pk_fma_f16 v3, v0, v1, v2 neg_lo:[1,0,0]", halves(2, 3), halves(5, 7), halves(1, 1),
       halves(-9, 22)},
      {"v_pk_add_u16 v3, v0, v1", 0x0001ffff, 0x00020001, 0, 0x00030000},
  });
}

TEST(Vector, PackedF32) {
  OneWave wave;
  wave.set_v(0, bits(2));
  wave.set_v(1, bits(3));
  wave.set_v(2, bits(5));
  wave.set_v(3, bits(7));
  const auto expect = [&](const char* text, float low, float high) {
    SCOPED_TRACE(text);
    wave.run(text);
    EXPECT_EQ(number(wave.v(4)), low);
    EXPECT_EQ(number(wave.v(5)), high);
  };
  expect("v_pk_add_f32 v[4:5], v[0:1], v[2:3]", 7, 10);
  expect("v_pk_mul_f32 v[4:5], v[0:1], v[2:3]", 10, 21);
  expect("v_pk_mul_f32 v[4:5], v[0:1], v[2:3] op_sel_hi:[0,1]", 10, 14);
  expect("v_pk_mul_f32 v[4:5], v[0:1], v[2:3] op_sel:[1,0]", 15, 21);
  expect("v_pk_fma_f32 v[4:5], v[0:1], v[2:3], v[0:1] neg_lo:[0,0,1] neg_hi:[0,0,1]", 8, 18);
  expect("v_pk_mul_f32 v[4:5], v[0:1], 0.5 op_sel_hi:[1,0]", 1, 1.5);
  expect("v_pk_mov_b32 v[4:5], v[0:1], v[2:3] op_sel:[0,1]", 2, 7);
  expect("v_pk_mov_b32 v[4:5], v[0:1], v[2:3] op_sel:[1,0]", 3, 5);
}

TEST(Vector, SdwaWritesAPartAndKeepsTheRest) {
  OneWave wave;
  wave.set_v(0, 0x11223344);
  wave.set_v(3, 0xaabbccdd);
  wave.run("v_mov_b32_sdwa v3, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3");
  EXPECT_EQ(wave.v(3), 0xaabb11ddu);
  wave.run(
      "v_or_b32_sdwa v3, sext(v0), v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
      "src1_sel:WORD_1");
  EXPECT_EQ(wave.v(3), 0x11660000u);
}

}  // namespace
}  // namespace hone::emulator
