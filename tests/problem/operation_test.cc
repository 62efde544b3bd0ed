#include "problem/operation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "problem/dispatch.h"

namespace hone::problem {
namespace {

Operation matmul(std::int64_t m, std::int64_t n, std::int64_t k, ElementType in, ElementType out) {
  Operation operation;
  operation.kind = OperationKind::kMatmul;
  operation.name = "linalg.matmul";
  operation.loops = {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}};
  operation.operands = {
      {{in, {m, k}}, {0, 2}, false}, {{in, {k, n}}, {2, 1}, false}, {{out, {m, n}}, {0, 1}, true}};
  return operation;
}

TEST(Operation, CountsFlopsAndBytesOfAMatmul) {
  const Operation operation = matmul(2048, 1280, 1280, ElementType::kF16, ElementType::kF32);
  EXPECT_EQ(flop_count(operation), 2.0 * 2048 * 1280 * 1280);
  // A and B in two bytes, C in four.
  EXPECT_EQ(byte_count(operation), 2.0 * (2048 * 1280 + 1280 * 1280) + 4.0 * 2048 * 1280);
}

// Q [20,4096,64] K' and the scores times V [20,4096,64]: 2 x 20 x 4096 x 4096 x 64 each.
TEST(Operation, CountsTheTwoProductsOfAttention) {
  const TensorType type{ElementType::kF16, {20, 4096, 64}};
  Operation operation;
  operation.kind = OperationKind::kAttention;
  for (const std::int64_t size : {20, 4096, 64, 64, 4096})  // batch, m, n, k1, k2
    operation.loops.push_back({false, size, LoopRole::kOther});
  operation.operands = {{type, {0, 1, 3}, false},
                        {type, {0, 4, 3}, false},
                        {type, {0, 4, 2}, false},
                        {{ElementType::kF16, {}}, {}, false},
                        {type, {0, 1, 2}, true}};
  EXPECT_EQ(flop_count(operation), 2.0 * 2 * 20 * 4096 * 4096 * 64);
}

TEST(Operation, CountsNothingForADynamicShape) {
  const Operation operation = matmul(kDynamic, 512, 512, ElementType::kF32, ElementType::kF32);
  EXPECT_TRUE(is_dynamic(operation));
  EXPECT_EQ(flop_count(operation), 0);
  EXPECT_EQ(byte_count(operation), 0);
  EXPECT_EQ(describe(operation), "matmul ?x512x512 f32,f32->f32");
}

TEST(Operation, IsStatedWithoutTheSizesThatWereGiven) {
  Operation given = matmul(384, 512, 512, ElementType::kF32, ElementType::kF32);
  const std::string closed = fingerprint(given);
  given.loops[0].open = true;
  EXPECT_TRUE(has_open_sizes(given));
  EXPECT_FALSE(is_dynamic(given));
  EXPECT_EQ(describe(given), "matmul 384?x512x512 f32,f32->f32");
  EXPECT_NE(fingerprint(given), closed);
  EXPECT_EQ(nlohmann::json(given).get<Operation>(), given);
  const Operation stated = as_stated(given);
  EXPECT_EQ(describe(stated), "matmul ?x512x512 f32,f32->f32");
  EXPECT_EQ(to_string(stated.operands[0].type), "?x512xf32");
  EXPECT_EQ(to_string(stated.operands[1].type), "512x512xf32");
  EXPECT_EQ(to_string(stated.operands[2].type), "?x512xf32");
}

TEST(Operation, IsDescribedWithItsLayouts) {
  Operation operation = matmul(128, 3072, 768, ElementType::kF16, ElementType::kF32);
  EXPECT_EQ(describe(operation), "matmul 128x3072x768 f16,f16->f32");
  operation.operands[1] = {{ElementType::kF16, {3072, 768}}, {1, 2}, false};
  EXPECT_EQ(describe(operation), "matmul 128x3072x768 f16,f16->f32 tb");
  operation.operands[0] = {{ElementType::kF16, {768, 128}}, {2, 0}, false};
  EXPECT_EQ(describe(operation), "matmul 128x3072x768 f16,f16->f32 ta tb");
}

TEST(Operation, HasAFingerprintOfWhatIsComputed) {
  const Operation operation = matmul(512, 512, 512, ElementType::kF32, ElementType::kF32);
  Operation generic = operation;
  generic.name = "linalg.generic";
  EXPECT_EQ(fingerprint(operation), fingerprint(generic));
  EXPECT_NE(fingerprint(operation),
            fingerprint(matmul(512, 512, 513, ElementType::kF32, ElementType::kF32)));
  EXPECT_NE(fingerprint(operation),
            fingerprint(matmul(512, 512, 512, ElementType::kF16, ElementType::kF32)));
}

TEST(Operation, UnknownKindsNameTheNearest) {
  const auto kind = operation_kind_from("batch_matmull");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().message.substr(0, 69),
            "'batch_matmull' is no operation (did you mean 'batch_matmul'?); known");
}

TEST(Dispatch, SurvivesJson) {
  Dispatch dispatch;
  dispatch.name = "main_dispatch_0_matmul_512x512x512_f32";
  dispatch.executable = "main_dispatch_0";
  dispatch.source = "module {}";
  dispatch.root = matmul(512, 512, 512, ElementType::kF32, ElementType::kF32);
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {
      {Access::kReadOnly, BindingUse::kRootInput, {ElementType::kF32, {512, 512}}, 1048576},
      {Access::kWriteOnly, BindingUse::kOutput, {ElementType::kF32, {512, 512}}, 1048576}};
  dispatch.constants = {7};
  dispatch.launches_per_call = 2;
  dispatch.default_configuration = "#iree_cpu.lowering_config<distribution = [64, 64, 0]>";
  EXPECT_EQ(nlohmann::json(dispatch).get<Dispatch>(), dispatch);
}

TEST(Types, PrintAsTheCompilerDoes) {
  EXPECT_EQ(to_string(TensorType{ElementType::kBF16, {4, kDynamic}}), "4x?xbf16");
  EXPECT_EQ(element_type_from("f8E4M3FN"), ElementType::kF8E4M3);
  EXPECT_EQ(element_type_from("f80"), std::nullopt);
  EXPECT_EQ(byte_size(ElementType::kF16), 2);
  EXPECT_EQ(element_count({ElementType::kF32, {3, 5, 7}}), 105);
  EXPECT_EQ(element_count({ElementType::kF32, {}}), 1);
}

}  // namespace
}  // namespace hone::problem
