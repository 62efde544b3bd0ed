// What a dispatch computes, as read from the real compiler's IR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/provider_iree/compiler.h"
#include "tests/provider_iree/row_programs.h"

namespace hone::iree {
namespace {

using problem::Computation;
using problem::ElementValue;

Computation computation_of(const std::string& text) {
  return load("program.mlir", text).dispatches.at(0).computation;
}

const ElementValue& root_of(const Computation& computation) {
  return *std::find_if(computation.values.begin(), computation.values.end(),
                       [](const ElementValue& value) { return value.root; });
}

const ElementValue& at(const Computation& computation, int index) {
  return computation.values.at(static_cast<std::size_t>(index));
}

TEST(ReadComputation, OfSquaresBehindADifference) {
  const Computation computation = computation_of(norm_program());
  const ElementValue& root = root_of(computation);
  EXPECT_EQ(root.kind, ElementValue::Kind::kReduction);
  EXPECT_EQ(root.operation, "arith.addf");
  EXPECT_EQ(root.terms, 256);
  const ElementValue& square = at(computation, root.operands.at(0));
  EXPECT_EQ(square.operation, "arith.mulf");
  // One element with itself, not two elements of one tensor.
  EXPECT_EQ(square.operands.at(0), square.operands.at(1));
  EXPECT_EQ(at(computation, square.operands.at(0)).operation, "arith.subf");
  EXPECT_EQ(at(computation, root.operands.at(1)).kind, ElementValue::Kind::kConstant);
  // What the sums go through before they are stored.
  ASSERT_EQ(computation.outputs.size(), 1u);
  EXPECT_TRUE(
      std::any_of(computation.values.begin(), computation.values.end(),
                  [](const ElementValue& value) { return value.operation == "math.rsqrt"; }));
}

TEST(ReadComputation, OfSoftmaxAndAttention) {
  const Computation softmax = computation_of(softmax_program());
  EXPECT_EQ(root_of(softmax).kind, ElementValue::Kind::kSoftmax);
  EXPECT_EQ(root_of(softmax).terms, 256);
  const Computation attention = computation_of(attention_program());
  const ElementValue& root = root_of(attention);
  EXPECT_EQ(root.kind, ElementValue::Kind::kAttention);
  EXPECT_EQ(root.inner_terms, 32);  // of a head
  EXPECT_EQ(root.terms, 64);        // keys
  EXPECT_EQ(at(attention, root.operands.at(3)).constant, 0.125);
}

TEST(ReadComputation, OfATransposeIsItsInput) {
  const Computation computation = computation_of(transpose_program());
  int value = computation.outputs.at(0).value;
  while (at(computation, value).kind == ElementValue::Kind::kElement)
    value = at(computation, value).operands.at(0);
  EXPECT_EQ(at(computation, value).kind, ElementValue::Kind::kInput);
  EXPECT_EQ(at(computation, value).binding, 0);
}

TEST(ReadComputation, LeavesNothingUnknownInTheExamples) {
  for (const char* name : {"attention_block.mlir", "feed_forward_f16.mlir", "mobile_block.mlir",
                           "residual_block.mlir", "matmul_row_sum.mlir"})
    for (const problem::Dispatch& dispatch : load(name, example(name)).dispatches)
      for (const ElementValue& value : dispatch.computation.values)
        EXPECT_NE(value.kind, ElementValue::Kind::kUnknown)
            << dispatch.name << ": " << value.operation.name();
}

}  // namespace
}  // namespace hone::iree
