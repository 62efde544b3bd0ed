#include "problem/check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone::problem {
namespace {

std::string words(const Status& status) {
  return status ? "fine" : status.error().message;
}

Operation matvec() {
  Operation operation;
  operation.kind = OperationKind::kMatvec;
  operation.loops = {{false, 16, LoopRole::kM}, {true, 8, LoopRole::kK}};
  operation.operands = {{{ElementType::kF32, {16, 8}}, {0, 1}, false},
                        {{ElementType::kF32, {8}}, {1}, false},
                        {{ElementType::kF32, {16}}, {0}, true}};
  return operation;
}

TEST(Check, TensorsFitAnAddressSpace) {
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {}})), "fine");
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {kDynamic, 8}})), "fine");
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {0, 8}})), "fine");
  // 2^28 * 2^30 * 4 bytes are 2^60.
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {1 << 28, 1 << 30}})), "fine");
  EXPECT_EQ(words(check(TensorType{ElementType::kF64, {1 << 28, 1 << 30}})),
            "a tensor of 268435456x1073741824xf64 has more than 2^60 bytes");
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {std::int64_t{1} << 40, 1 << 24}})),
            "a tensor of 1099511627776x16777216xf32 has more than 2^60 bytes");
  EXPECT_EQ(words(check(TensorType{ElementType::kF32, {-2}})),
            "an extent of a tensor is -2; possible are 0 to 1152921504606846976, and -1 for a "
            "dynamic one");
}

TEST(Check, OperandsAreWalkedByLoopsThatAreThere) {
  Operation operation = matvec();
  EXPECT_EQ(words(check(operation)), "fine");
  operation.operands[0].loops = {0, -1};  // more than a single loop
  EXPECT_EQ(words(check(operation)), "fine");
  operation.operands[0].loops = {0, 2};
  EXPECT_EQ(words(check(operation)), "an operand is walked by loop 2; the operation has 2");
  operation.operands[0].loops = {0};
  EXPECT_EQ(words(check(operation)), "an operand of type 16x8xf32 is walked by 1 loops");
}

TEST(Check, LoopsEnd) {
  Operation operation = matvec();
  operation.loops[1].size = kDynamic;
  EXPECT_EQ(words(check(operation)), "fine");
  operation.loops[1].size = (std::int64_t{1} << 40) + 1;
  EXPECT_EQ(
      words(check(operation)),
      "the iterations of a loop is 1099511627777; possible are 0 to 1099511627776, and -1 for "
      "a dynamic one");
}

TEST(Check, JsonThatCannotBeMeantIsRefusedLikeAMissingField) {
  nlohmann::json json = matvec();
  EXPECT_EQ(json.get<Operation>(), matvec());
  json["operands"][2]["loops"] = {7};
  EXPECT_THROW(json.get<Operation>(), nlohmann::json::exception);
  const nlohmann::json binding = {{"access", "read"},
                                  {"use", "root input"},
                                  {"type", {{"element", "f32"}, {"shape", {8}}}},
                                  {"bytes", -2}};
  EXPECT_THROW(binding.get<Binding>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace hone::problem
