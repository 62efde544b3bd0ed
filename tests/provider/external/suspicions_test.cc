// What a wrong kernel of the user's may have done, as statements that can be evaluated.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "provider/external/external_provider.h"
#include "tests/provider/external/operands.h"

namespace hone::external {
namespace {

using nlohmann::json;
using problem::ElementType;
using provider::Suspicion;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using Operand = ExternalKernel::Operand;

std::vector<Suspicion> suspicions(const ExternalKernel& kernel, const json& statement) {
  const auto named = named_statement(kernel, statement);
  EXPECT_TRUE(named) << named.error().message;
  return named ? suspicions_of(kernel, *named) : std::vector<Suspicion>();
}

const Suspicion* find(const std::vector<Suspicion>& all, const std::string& says) {
  const auto found = std::ranges::find(all, says, &Suspicion::says);
  return found == all.end() ? nullptr : &*found;
}

// C = relu(A B + bias), 4 x 6 x 40.
json linear_statement() {
  return json::parse(R"({
    "kind": "contraction", "entry": "main$dispatch_0", "bindings": 4, "constants": 0,
    "views": [{"binding": 0, "offset": 0, "words": []}, {"binding": 1, "offset": 0, "words": []},
              {"binding": 2, "offset": 0, "words": []}, {"binding": 3, "offset": 0, "words": []}],
    "loops": [{"size": 4, "role": "m"}, {"size": 6, "role": "n"}, {"size": 40, "role": "k"}],
    "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [40, 0, 1]},
    "rhs": {"view": 1, "type": "f16", "offset": 0, "strides": [0, 1, 6]},
    "start": 0.0,
    "values": [{"op": "root", "type": "f32", "operands": []},
               {"op": "load", "type": "f32", "view": 2, "offset": 0, "strides": [0, 1, 0], "operands": []},
               {"op": "arith.addf", "type": "f32", "operands": [0, 1]},
               {"op": "constant", "type": "f32", "value": 0.0, "operands": []},
               {"op": "arith.maximumf", "type": "f32", "operands": [2, 3]}],
    "stores": [{"view": 3, "type": "f32", "offset": 0, "strides": [6, 1, 0], "value": 4}]})");
}

ExternalKernel linear_kernel() {
  ExternalKernel kernel;
  kernel.operands = {
      operand("A", ElementType::kF16, {"M", "K"}), operand("B", ElementType::kF16, {"K", "N"}),
      operand("bias", ElementType::kF32, {"N"}), operand("C", ElementType::kF32, {"M", "N"})};
  return kernel;
}

TEST(Suspicions, AreOtherLayoutsOfEachOperand) {
  const auto all = suspicions(linear_kernel(), linear_statement());
  const Suspicion* const b = find(all, "it reads B as N x K, and its manifest says K x N");
  ASSERT_NE(b, nullptr);
  EXPECT_THAT(b->statement.operands[1].strides, ElementsAre(0, 40, 1));
  EXPECT_THAT(b->statement.operands[0].strides, ElementsAre(40, 0, 1)) << "and nothing else";
  const Suspicion* const c = find(all, "it writes C as N x M, and its manifest says M x N");
  ASSERT_NE(c, nullptr);
  EXPECT_THAT(c->statement.stores[0].use.strides, ElementsAre(1, 4, 0));
}

TEST(Suspicions, AreWhatIsLeftOut) {
  const auto all = suspicions(linear_kernel(), linear_statement());
  const Suspicion* const bias = find(all, "it leaves out bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->statement.values[1].operation, "constant");
  const Suspicion* const sums =
      find(all, "it stores the sums as they are, with nothing behind them");
  ASSERT_NE(sums, nullptr);
  EXPECT_EQ(sums->statement.stores[0].value, 0u);
  const Suspicion* const linear_part =
      find(all, "it leaves out what follows the addition behind its sums");
  ASSERT_NE(linear_part, nullptr);
  EXPECT_EQ(linear_part->statement.stores[0].value, 2u);
  const Suspicion* const last = find(all, "it leaves out the last 8 of 40 along K");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->statement.loops[2].size, 32);
  EXPECT_EQ(find(all, "it leaves out the last 64 of 40 along K"), nullptr);
}

// Else a right kernel that damages other memory would be said to leave something out.
TEST(Suspicions, AreNeverWhatIsRight) {
  json biased = linear_statement();
  biased["stores"][0]["value"] = 2;
  for (const Suspicion& each : suspicions(linear_kernel(), biased))
    EXPECT_TRUE(each.adds_to_output || each.statement != biased.get<problem::Statement>())
        << each.says;
}

TEST(Suspicions, AnOutputThatNobodyZeroes) {
  const auto all = suspicions(linear_kernel(), linear_statement());
  EXPECT_EQ(std::ranges::count(all, true, &Suspicion::adds_to_output), 1);
}

// 1x3x3x2 image, 2x2 filter of 2 channels out, in the layouts of MISA's kernel. The filter's 24
// orders but its own: of a square one (KH = KW, C = O) each is another.
TEST(Suspicions, OfAConvolutionAreAllOrdersOfItsFilter) {
  json statement = linear_statement();
  statement["loops"] = {{{"size", 2}, {"role", "m"}}, {{"size", 2}, {"role", "m"}},
                        {{"size", 2}, {"role", "n"}}, {{"size", 2}, {"role", "k"}},
                        {{"size", 2}, {"role", "k"}}, {{"size", 2}, {"role", "k"}}};
  // ho, wo, o, kh, kw, c
  statement["lhs"]["strides"] = {6, 2, 0, 6, 2, 1};
  statement["rhs"]["strides"] = {0, 0, 8, 4, 2, 1};
  statement["values"] = {statement["values"][0]};
  statement["stores"][0]["strides"] = {4, 2, 1, 0, 0, 0};
  statement["stores"][0]["value"] = 0;
  ExternalKernel kernel;
  kernel.convolution = true;
  kernel.operands = {operand("image", ElementType::kF16, {"N", "H", "W", "C"}),
                     operand("filter", ElementType::kF16, {"O", "KH", "KW", "C"}),
                     operand("output", ElementType::kF32, {"N", "HO", "WO", "O"})};
  const auto all = suspicions(kernel, statement);
  const Suspicion* const filter =
      find(all, "it reads filter as KH x KW x C x O, and its manifest says O x KH x KW x C");
  ASSERT_NE(filter, nullptr);
  EXPECT_THAT(filter->statement.operands[1].strides, ElementsAre(0, 0, 1, 8, 4, 2));
  EXPECT_EQ(
      std::ranges::count_if(
          all, [](const Suspicion& each) { return each.says.starts_with("it reads filter"); }),
      23);
  // Rows of an image are walked by windows and by what is within them.
  const Suspicion* const image =
      find(all, "it reads image as N x C x H x W, and its manifest says N x H x W x C");
  ASSERT_NE(image, nullptr);
  EXPECT_THAT(image->statement.operands[0].strides, ElementsAre(3, 1, 0, 3, 1, 9));
}

}  // namespace
}  // namespace hone::external
