// How exact kernels are, and what wrong ones did, by C code that was made to do it.
#include "measure/accuracy.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "measure/runner.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using problem::LoopRole;
using problem::Statement;
using provider::Suspicion;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace hone::test;

// C = A B of 8 x 8 x 8 in f32, as IREE's half states it.
Statement product_statement() {
  Statement said;
  said.loops = {{LoopRole::kM, 8}, {LoopRole::kN, 8}, {LoopRole::kK, 8}};
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}};
  said.operands = {{0, ElementType::kF32, 0, {8, 0, 1}}, {1, ElementType::kF32, 0, {0, 1, 8}}};
  said.values = {{"root", ElementType::kF32}};
  said.stores = {{{2, ElementType::kF32, 0, {8, 1, 0}}, 0}};
  return said;
}

std::vector<Suspicion> suspicions() {
  Suspicion transposed{"it reads B as N x K", product_statement()};
  transposed.statement.operands[1].strides = {0, 8, 1};
  Suspicion short_sums{"it leaves out the last of K", product_statement()};
  short_sums.statement.loops[2].size = 7;
  return {transposed, short_sums, {"it adds to C", product_statement(), true}};
}

class AccuracyTest : public testing::Test {
 protected:
  // A row of C is computed by `row`, with a, b, c and its number i at hand.
  int load(const std::string& row) {
    problem::Dispatch dispatch = matmul(8, 8, 8);
    dispatch.statement = product_statement();
    EXPECT_TRUE(runner_.set_problem(problem_request(dispatch)));
    provider::Artifact kernel = matmul_8();
    kernel.code = kernel_library(R"(
        float* a = dispatch->bindings[0]; float* b = dispatch->bindings[1];
        float* c = dispatch->bindings[2]; int i = workgroup->x;
        )" + row,
                                 {.bindings = 3});
    const auto handle = runner_.load(kernel);
    EXPECT_TRUE(handle) << handle.error().message;
    return handle.value_or(0);
  }

  std::vector<OutputAccuracy> accuracy(const std::string& row) {
    const auto told = runner_.accuracies({load(row)});
    EXPECT_TRUE(told) << told.error().message;
    return told ? told->at(0) : std::vector<OutputAccuracy>();
  }

  int mistake(const std::string& row) {
    const auto found = runner_.find_mistake({load(row), suspicions()});
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(-2);
  }

  Runner runner_ = cpu_runner();
};

// Sums of eight reals: in double precision, rounded once, every element is exact; added up in
// single precision some are a step or two off.
TEST_F(AccuracyTest, CountsStepsFromTheExactValue) {
  const char* const wide =
      "for (int j = 0; j < 8; ++j) { double s = 0; for (int k = 0; k < 8; ++k)"
      " s += (double)a[i * 8 + k] * b[k * 8 + j]; c[i * 8 + j] = s; }";
  const auto exact = accuracy(wide);
  ASSERT_EQ(exact.size(), 1u);
  EXPECT_EQ(exact.front().binding, 2);
  EXPECT_EQ(exact.front().difference.elements, 64);
  EXPECT_EQ(exact.front().difference.different, 0);
  EXPECT_EQ(exact.front().first, -1);

  // One step more of each, from element 3 on.
  const char* const off =
      "for (int j = 0; j < 8; ++j) { double s = 0; for (int k = 0; k < 8; ++k)"
      " s += (double)a[i * 8 + k] * b[k * 8 + j]; float f = s;"
      " if (i * 8 + j >= 3) { int bits; __builtin_memcpy(&bits, &f, 4); ++bits;"
      " __builtin_memcpy(&f, &bits, 4); } c[i * 8 + j] = f; }";
  const auto stepped = accuracy(off);
  ASSERT_EQ(stepped.size(), 1u);
  EXPECT_EQ(stepped.front().difference.different, 61);
  EXPECT_EQ(stepped.front().difference.by_ulp.front(), 61);
  EXPECT_EQ(stepped.front().difference.largest_ulp, 1);
  EXPECT_EQ(stepped.front().first, 3);
  EXPECT_NE(stepped.front().got, stepped.front().expected);
}

TEST_F(AccuracyTest, FindsWhatAWrongKernelDid) {
  EXPECT_EQ(mistake("for (int j = 0; j < 8; ++j) { float s = 0; for (int k = 0; k < 8; ++k)"
                    " s += a[i * 8 + k] * b[j * 8 + k]; c[i * 8 + j] = s; }"),
            0);
  EXPECT_EQ(mistake("for (int j = 0; j < 8; ++j) { float s = 0; for (int k = 0; k < 7; ++k)"
                    " s += a[i * 8 + k] * b[k * 8 + j]; c[i * 8 + j] = s; }"),
            1);
  EXPECT_EQ(mistake("for (int j = 0; j < 8; ++j) { float s = 0; for (int k = 0; k < 8; ++k)"
                    " s += a[i * 8 + k] * b[k * 8 + j]; c[i * 8 + j] += s; }"),
            2);
  // None of the three.
  EXPECT_EQ(mistake("for (int j = 0; j < 8; ++j) c[i * 8 + j] = a[i * 8 + j];"), -1);
}

TEST_F(AccuracyTest, NeedsAStatement) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const auto handle = runner_.load(matmul_8());
  ASSERT_TRUE(handle);
  EXPECT_THAT(runner_.accuracies({*handle}).error().message, HasSubstr("nobody has stated"));
}

// The same by messages.
TEST_F(AccuracyTest, IsAskedByJobs) {
  const int handle = load(
      "for (int j = 0; j < 8; ++j) { float s = 0; for (int k = 0; k < 8; ++k)"
      " s += a[i * 8 + k] * b[j * 8 + k]; c[i * 8 + j] = s; }");
  const auto found = measure::handle(
      runner_, {"find_mistake", {{"handle", handle}, {"suspicions", suspicions()}}, {}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->body.at("found"), 0);
  const auto told = measure::handle(runner_, {"accuracies", {{"handles", {handle, handle}}}, {}});
  ASSERT_TRUE(told) << told.error().message;
  const auto kernels = told->body.at("kernels").get<std::vector<std::vector<OutputAccuracy>>>();
  ASSERT_EQ(kernels.size(), 2u);
  const std::vector<OutputAccuracy>& outputs = kernels[1];
  ASSERT_EQ(outputs.size(), 1u);
  // Another layout fills the last class.
  EXPECT_GT(outputs[0].difference.by_ulp.back(), 50);
  EXPECT_GE(outputs[0].first, 0);
}

}  // namespace
}  // namespace hone::measure
