#include "provider/triton/gemm.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/provider/triton/gemms.h"

namespace hone::triton {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const Gemm& gemm) {
  const Status status = check(gemm);
  return status ? "" : status.error().message;
}

TEST(Gemm, IsNamedBySizesTypesAndLayouts) {
  Gemm plain = gemm(2048, 1280, 5120);
  EXPECT_EQ(name_of(plain), "gemm_2048x1280x5120_f16_f16_f16_nn");
  plain.b_rows = false;
  plain.c = ElementType::kF32;
  EXPECT_EQ(name_of(plain), "gemm_2048x1280x5120_f16_f16_f32_nt");
  plain.c_rows = false;
  plain.batch = 8;
  plain.bias = ElementType::kF16;
  EXPECT_EQ(name_of(plain), "gemm_2048x1280x5120_f16_f16_f32_nt_ct_b8_bias");
}

TEST(Gemm, ASizeIsAtLeastOne) {
  EXPECT_EQ(refusal(gemm(1, 1, 1)), "");
  EXPECT_EQ(refusal(gemm(0, 16, 16)), "m is 0; it must be at least 1");
  EXPECT_EQ(refusal(gemm(16, 16, -3)), "k is -3; it must be at least 1");
}

TEST(Gemm, AnOperandHasFewerThanTwoToThePowerOf31Elements) {
  EXPECT_EQ(refusal(gemm(65536, 1, 32767)), "");
  EXPECT_EQ(refusal(gemm(65536, 1, 32768)),
            "A has 65536 x 32768 elements, 1 of them; the kernels take fewer than 2^31");
  EXPECT_THAT(refusal(gemm(65536, 32768, 1)), HasSubstr("C has 65536 x 32768"));
  Gemm batch = gemm(16384, 1, 16384);  // 2^28 elements of A, eight times
  batch.batch = 8;
  EXPECT_THAT(refusal(batch), HasSubstr("A has 16384 x 16384 elements, 8 of them"));
  EXPECT_THAT(refusal(gemm(std::int64_t{1} << 62, 16, 16)), HasSubstr("fewer than 2^31"));
}

TEST(Gemm, OperandsAreOfOneTypeOrBothEightBitFloats) {
  Gemm mixed = gemm(16, 16, 16);
  mixed.a = ElementType::kF8E4M3;
  mixed.b = ElementType::kF8E5M2;
  EXPECT_EQ(refusal(mixed), "");
  mixed.b = ElementType::kF16;
  EXPECT_EQ(refusal(mixed),
            "A is f8E4M3FN and B is f16; they must be of one type, or both 8-bit floats");
  mixed.a = mixed.b = ElementType::kF64;
  EXPECT_THAT(refusal(mixed), HasSubstr("A and B are f64"));
}

TEST(Gemm, IntegersAreSummedAsIntegers) {
  Gemm bytes = gemm(16, 16, 16);
  bytes.a = bytes.b = ElementType::kI8;
  EXPECT_EQ(refusal(bytes), "C is f16, its sums are i32");
  bytes.c = ElementType::kI32;
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_EQ(accumulator(bytes), ElementType::kI32);
  EXPECT_EQ(accumulator(gemm(1, 1, 1)), ElementType::kF32);
}

TEST(Gemm, Tf32IsForOperandsOfF32) {
  Gemm rounded = gemm(16, 16, 16);
  rounded.tf32 = true;
  EXPECT_EQ(refusal(rounded), "tf32 is for operands of f32, not f16");
  rounded.a = rounded.b = rounded.c = ElementType::kF32;
  EXPECT_EQ(refusal(rounded), "");
}

TEST(Gemm, AsADispatchIsAContractionWithABindingForEachOperand) {
  Gemm narrow = gemm(64, 128, 256);
  narrow.b_rows = false;
  const problem::Dispatch dispatch = dispatch_of(narrow);
  EXPECT_EQ(dispatch.root.kind, problem::OperationKind::kMatmul);
  EXPECT_EQ(problem::flop_count(dispatch.root), 2.0 * 64 * 128 * 256);
  ASSERT_EQ(dispatch.bindings.size(), 3);
  EXPECT_EQ(problem::to_string(dispatch.bindings[0].type), "64x256xf16");
  EXPECT_EQ(problem::to_string(dispatch.bindings[1].type), "128x256xf16");  // B by columns
  EXPECT_EQ(problem::to_string(dispatch.bindings[2].type), "64x128xf16");
  EXPECT_EQ(dispatch.bindings[1].bytes, 128 * 256 * 2);
  EXPECT_THAT(dispatch.fused, ElementsAre("fill", "elementwise(arith.truncf)"));
  EXPECT_THAT(dispatch.root_bindings, ElementsAre(0, 1, -1));  // C is rounded on the way
}

TEST(Gemm, OfF32IsBare) {
  Gemm bare = gemm(64, 128, 256);
  bare.a = bare.b = bare.c = ElementType::kF32;
  EXPECT_THAT(dispatch_of(bare).fused, ElementsAre("fill"));
  EXPECT_THAT(dispatch_of(bare).root_bindings, ElementsAre(0, 1, 2));
}

TEST(Gemm, ABatchIsALoopAndABiasABinding) {
  Gemm all = gemm(64, 128, 256);
  all.batch = 4;
  all.bias = ElementType::kF32;
  const problem::Dispatch dispatch = dispatch_of(all);
  EXPECT_EQ(dispatch.root.kind, problem::OperationKind::kBatchMatmul);
  EXPECT_EQ(problem::flop_count(dispatch.root), 2.0 * 4 * 64 * 128 * 256);
  ASSERT_EQ(dispatch.bindings.size(), 4);
  EXPECT_EQ(problem::to_string(dispatch.bindings[0].type), "4x64x256xf16");
  EXPECT_EQ(problem::to_string(dispatch.bindings[2].type), "128xf32");
  EXPECT_EQ(dispatch.bindings[2].use, problem::BindingUse::kFusedInput);
  EXPECT_THAT(dispatch.fused,
              ElementsAre("fill", "elementwise(arith.addf)", "elementwise(arith.truncf)"));
}

TEST(Gemm, IsWrittenAsTheCompileWorkerReadsIt) {
  Gemm bytes = gemm(1, 2, 3);
  bytes.a = bytes.b = ElementType::kI8;
  bytes.c = ElementType::kI32;
  bytes.a_rows = false;
  EXPECT_EQ(nlohmann::json(bytes), nlohmann::json::parse(R"({
    "m": 1, "n": 2, "k": 3, "batch": 1, "a_rows": false, "b_rows": true, "c_rows": true,
    "a": "i8", "b": "i8", "c": "i32", "bias": "", "accumulate": "i32", "precision": "ieee"})"));
}

}  // namespace
}  // namespace hone::triton
