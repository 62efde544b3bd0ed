// Which dispatches a manifest's kernel is for, by what they state (problem::Dispatch::statement).
#include "provider/external/dispatch_form.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/provider/external/operands.h"

namespace hone::external {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Operand = ExternalKernel::Operand;
using problem::ElementType;

// C = A B + bias: f16, sums and bias in f32.
ExternalKernel linear() {
  ExternalKernel kernel;
  kernel.operands = {
      operand("A", ElementType::kF16, {"M", "K"}), operand("B", ElementType::kF16, {"K", "N"}),
      operand("bias", ElementType::kF32, {"N"}), operand("C", ElementType::kF16, {"M", "N"})};
  return kernel;
}

// 512 x 256 x 640. A begins where the first constant says, B where two do and 128 bytes behind, the
// bias lies behind B in the same view.
json stated() {
  return json::parse(R"({
    "kind": "contraction", "entry": "main$dispatch_0", "bindings": 3, "constants": 3,
    "views": [{"binding": 0, "offset": 0, "words": [0], "multiple": 64},
              {"binding": 1, "offset": 128, "words": [1, 2], "multiple": 64},
              {"binding": 2, "offset": 0, "words": [], "multiple": 64}],
    "loops": [{"size": 512, "role": "m"}, {"size": 256, "role": "n"}, {"size": 640, "role": "k"}],
    "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [640, 0, 1]},
    "rhs": {"view": 1, "type": "f16", "offset": 0, "strides": [0, 1, 256]},
    "accumulator": "f32", "start": 0.0,
    "values": [{"op": "root", "type": "f32", "operands": []},
               {"op": "load", "type": "f32", "view": 1, "offset": 100, "strides": [0, 1, 0], "operands": []},
               {"op": "arith.addf", "type": "f32", "operands": [0, 1]},
               {"op": "arith.truncf", "type": "f16", "operands": [2]}],
    "stores": [{"view": 2, "type": "f16", "offset": 0, "strides": [256, 1, 0], "value": 3}]})");
}

Result<DispatchForm> form_of(const ExternalKernel& kernel, const json& statement) {
  Result<NamedStatement> named = named_statement(kernel, statement);
  if (!named) return tl::unexpected(named.error());
  return std::move(named->form);
}

std::string why_not(const json& statement, const ExternalKernel& kernel = linear()) {
  const auto form = form_of(kernel, statement);
  return form ? "it is" : form.error().message;
}

TEST(DispatchForm, OperandsLieWhereTheLaunchSays) {
  const auto form = form_of(linear(), stated());
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_EQ(form->sizes.at("M"), 512);
  EXPECT_EQ(form->sizes.at("N"), 256);
  EXPECT_EQ(form->sizes.at("K"), 640);
  EXPECT_EQ(form->sizes.at("batch"), 1);
  EXPECT_EQ(form->operands.at("A"), (OperandPlace{0, 0, {0}}));
  EXPECT_EQ(form->operands.at("B"), (OperandPlace{1, 128, {1, 2}}));
  // 100 elements of four bytes behind where B's view begins.
  EXPECT_EQ(form->operands.at("bias"), (OperandPlace{1, 128 + 400, {1, 2}}));
  EXPECT_EQ(form->entry, "main$dispatch_0");
  EXPECT_EQ(form->bindings, 3);
  EXPECT_EQ(form->constants, 3);
}

TEST(DispatchForm, SaysWhatDiffers) {
  json other = stated();
  other["stores"][0]["type"] = "f32";
  EXPECT_EQ(why_not(other), "C is f32, and the kernel's is f16");
  other = stated();
  other["rhs"]["strides"] = {0, 640, 1};  // transposed
  EXPECT_EQ(why_not(other), "B does not lie as K x N: it lies as N x K");
  other = stated();
  other["start"] = 1.0;
  EXPECT_EQ(why_not(other), "its sums do not begin at 0");
  other = stated();
  other["values"][1]["strides"] = {1, 0, 0};  // one for each row
  EXPECT_EQ(why_not(other), "it reads nothing that is bias");
  other = stated();
  other["values"].push_back(other["values"][1]);
  EXPECT_EQ(why_not(other), "behind its sums it reads 1 more than the kernel");
  EXPECT_EQ(why_not(json{{"why_not", "it sorts"}}), "it sorts");
}

TEST(DispatchForm, ATableOfConstantsIsNoOperand) {
  json table = stated();
  table["values"][1]["op"] = "table";
  table["values"][1].erase("view");
  table["values"][1]["words"] = json::array({1, 2});
  EXPECT_EQ(why_not(table), "a table of constants is behind its sums, which can be no operand");
}

TEST(DispatchForm, ATransposedOperandIsALayout) {
  ExternalKernel kernel = linear();
  kernel.operands[1].layout = {"N", "K"};
  json transposed = stated();
  transposed["rhs"]["strides"] = {0, 640, 1};
  EXPECT_EQ(why_not(transposed, kernel), "it is");
  EXPECT_EQ(why_not(stated(), kernel), "B does not lie as N x K: it lies as K x N");
}

// A batch of images times one matrix is one product of more rows.
TEST(DispatchForm, LoopsThatAreWalkedAsOneAreOne) {
  json split = stated();
  split["loops"] = {{{"size", 4}, {"role", "m"}},
                    {{"size", 1}, {"role", "m"}},
                    {{"size", 128}, {"role", "m"}},
                    {{"size", 256}, {"role", "n"}},
                    {{"size", 640}, {"role", "k"}}};
  split["lhs"]["strides"] = {128 * 640, 7, 640, 0, 1};
  split["rhs"]["strides"] = {0, 7, 0, 1, 256};
  split["values"][1]["strides"] = {0, 7, 0, 1, 0};
  split["stores"][0]["strides"] = {128 * 256, 7, 256, 1, 0};
  const auto form = form_of(linear(), split);
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_EQ(form->sizes.at("M"), 512);
}

// The compiler may write the operands in each other's place.
TEST(DispatchForm, OperandsMayBeSwapped) {
  json swapped = stated();
  std::swap(swapped["lhs"], swapped["rhs"]);
  for (json& loop : swapped["loops"])
    loop["role"] = loop["role"] == "m" ? "n" : loop["role"] == "n" ? "m" : "k";
  EXPECT_EQ(why_not(swapped), "it is");
}

// 3 x 3 with stride 2 over an image whose rows are 70 long, of which windows reach 65.
TEST(DispatchForm, AConvolutionsStridesAndRowsAreRead) {
  ExternalKernel kernel;
  kernel.convolution = true;
  kernel.operands = {operand("image", ElementType::kF16, {"N", "H", "W", "C"}),
                     operand("filter", ElementType::kF16, {"KH", "KW", "C", "O"}),
                     operand("output", ElementType::kF32, {"N", "HO", "WO", "O"})};
  const json convolution = json::parse(R"({
    "kind": "contraction", "entry": "conv", "bindings": 3, "constants": 0,
    "views": [{"binding": 0, "offset": 0, "words": []}, {"binding": 1, "offset": 0, "words": []},
              {"binding": 2, "offset": 0, "words": []}],
    "loops": [{"size": 32, "role": "m"}, {"size": 32, "role": "m"}, {"size": 96, "role": "n"},
              {"size": 3, "role": "k"}, {"size": 3, "role": "k"}, {"size": 64, "role": "k"}],
    "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [8960, 128, 0, 4480, 64, 1]},
    "rhs": {"view": 1, "type": "f16", "offset": 0, "strides": [0, 0, 1, 18432, 6144, 96]},
    "accumulator": "f32", "start": 0.0,
    "values": [{"op": "root", "type": "f32", "operands": []}],
    "stores": [{"view": 2, "type": "f32", "offset": 0, "strides": [3072, 96, 1, 0, 0, 0], "value": 0}]})");
  const auto form = form_of(kernel, convolution);
  ASSERT_TRUE(form) << form.error().message;
  const std::map<std::string, space::Value>& sizes = form->sizes;
  EXPECT_EQ(sizes.at("N"), 1);
  EXPECT_EQ(sizes.at("W"), 70);
  EXPECT_EQ(sizes.at("H"), 65);  // (32 - 1) * 2 + 3
  EXPECT_EQ(sizes.at("HO"), 32);
  EXPECT_EQ(sizes.at("O"), 96);
  EXPECT_EQ(sizes.at("KH"), 3);
  EXPECT_EQ(sizes.at("C"), 64);
  EXPECT_EQ(sizes.at("stride_h"), 2);
  EXPECT_EQ(sizes.at("stride_w"), 2);
  EXPECT_EQ(sizes.at("dilation_w"), 1);
  kernel.operands[0].layout = {"N", "C", "H", "W"};
  EXPECT_THAT(why_not(convolution, kernel), HasSubstr("image does not lie as N x C x H x W"));
  // Of the ways to name the loops, the one that the image fits says what the filter is.
  kernel.operands[0].layout = {"N", "H", "W", "C"};
  kernel.operands[1].layout = {"O", "KH", "KW", "C"};
  EXPECT_EQ(why_not(convolution, kernel),
            "filter does not lie as O x KH x KW x C: it lies as KH x KW x C x O");
  kernel.manifest = "conv.yaml";
  EXPECT_THAT(form_by_line(kernel, convolution).error().message,
              HasSubstr("conv.yaml:1: filter does not lie"));
}

}  // namespace
}  // namespace hone::external
