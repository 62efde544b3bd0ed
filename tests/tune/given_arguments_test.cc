#include "tune/services/given_arguments.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tune/services/function_choice.h"

namespace hone::tune {
namespace {

using problem::ElementType;
using problem::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

const TensorType kRow{ElementType::kF32, {2}};
const TensorType kOpen{ElementType::kF32, {problem::kDynamic, 2}};

std::vector<float> floats(const problem::Array& array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::vector<GivenArgument> given(const std::vector<std::string>& texts) {
  std::vector<GivenArgument> arguments;
  for (const std::string& text : texts) arguments.push_back(given_argument(text).value());
  return arguments;
}

std::string message(const std::string& text) {
  const auto argument = given_argument(text);
  return argument ? "" : argument.error().message;
}

TEST(GivenArguments, AreValuesOfATypeOrOfTheOneThatIsWanted) {
  const auto arrays =
      arguments_for({kRow, kRow, kRow}, given({"=0.5", "2xf32=3", "2xf32=1,-2"}), "the inputs", 1);
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_THAT(floats((*arrays)[0]), ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(floats((*arrays)[1]), ElementsAre(3.0f, 3.0f));
  EXPECT_THAT(floats((*arrays)[2]), ElementsAre(1.0f, -2.0f));
}

TEST(GivenArguments, SayWhatAFunctionLeavesOpen) {
  const problem::Program program{"p.mlir", "", {{"f", {kOpen}, {kOpen}}}, {}};
  EXPECT_THAT(function_to_call(program, "", {}).error().message,
              HasSubstr("takes an argument whose shape is open"));
  const auto called = function_to_call(program, "f", given({"3x2xf32"}));
  ASSERT_TRUE(called) << called.error().message;
  EXPECT_EQ(problem::to_string(called->inputs.at(0)), "3x2xf32");
  const auto arrays = arguments_for({kOpen}, given({"3x2xf32"}), "the inputs", 1);
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_EQ(floats(arrays->at(0)).size(), 6u);
}

TEST(GivenArguments, NeedNotBeAllWhereTheOthersAreKnown) {
  const problem::Program program{
      "p.mlir", "", {{"f", {kOpen, kOpen}, {kOpen}, {}, {"batch", "input1.0"}}}, {}};
  EXPECT_EQ(function_to_call(program, "", given({"3x2xf32"})).error().message,
            "sizes of 'f' are open, give each: --dim batch=SIZE --dim input1.0=SIZE");
  const problem::Program closed{"p.mlir", "", {{"f", {kOpen, kRow}, {kOpen}}}, {}};
  EXPECT_TRUE(function_to_call(closed, "", given({"3x2xf32"})));
}

TEST(GivenArguments, MadeUpAreWithinWhatTheyIndex) {
  const TensorType ids{ElementType::kI64, {4000}};
  const auto arrays = arguments_for({kRow, ids}, {}, "the inputs", 1, {{1, 3, 6, ""}});
  ASSERT_TRUE(arrays) << arrays.error().message;
  std::vector<std::int64_t> values(4000);
  ASSERT_EQ(arrays->at(1).bytes.size(), sizeof(std::int64_t) * values.size());
  std::memcpy(values.data(), arrays->at(1).bytes.data(), arrays->at(1).bytes.size());
  EXPECT_EQ(std::ranges::min(values), 3);
  EXPECT_EQ(std::ranges::max(values), 6);
}

TEST(GivenArguments, ThatHoneCannotMakeUpAreAskedFor) {
  const TensorType shape{ElementType::kI64, {2}};
  const problem::Program program{
      "p.mlir", "", {{"f", {kRow, shape}, {kRow}, {{1, 0, 0, "a shape"}}}}, {}};
  const auto called = function_to_call(program, "", {});
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().kind, ErrorKind::kInput);
  EXPECT_EQ(called.error().message,
            "input 1 of 'f' (2xi64) is a shape: hone cannot make its values up; give them: "
            "--input 2xf32 --input 2xi64=VALUE,VALUE");
  EXPECT_FALSE(function_to_call(program, "", given({"2xf32", "2xi64"})));
  EXPECT_TRUE(function_to_call(program, "", given({"2xf32", "2xi64=1,2"})));
}

TEST(GivenArguments, ThatDoNotFitSayWhatIsWanted) {
  const auto types = [](const std::vector<std::string>& texts) {
    return types_given({kRow, kOpen}, given(texts), "the inputs of 'f'").error().message;
  };
  EXPECT_EQ(types({"2xf32", "2x2xf32", "2xf32"}),
            "the inputs of 'f' are 2 (2xf32, ?x2xf32), but 3 are given");
  EXPECT_EQ(types({"3xf32", "2x2xf32"}),
            "--input '3xf32' does not fit, number 0 of the inputs of 'f': 2xf32 is wanted");
  EXPECT_EQ(types({"2xf32", "2x2xf16=1"}),
            "--input '2x2xf16=1' does not fit, number 1 of the inputs of 'f': 2x2xf32 is wanted");
}

TEST(GivenArguments, MistakesAreNamed) {
  EXPECT_EQ(message("2xf32=1,2,3"), "--input '2xf32=1,2,3' gives 3 values for 2 elements of 2xf32");
  EXPECT_EQ(message("2xf32=one"), "--input '2xf32=one': 'one' is no number");
  EXPECT_EQ(message("2xf32="), "--input '2xf32=': no value after '='");
  EXPECT_EQ(message("?x2xf32"), "--input '?x2xf32' leaves an extent open");
  EXPECT_EQ(message("@none.npy"), "cannot read 'none.npy': No such file or directory");
}

TEST(FunctionChoice, NamesWhatThereIs) {
  const problem::Program program{"p.mlir", "", {{"net", {kRow}, {kRow}}, {"log", {kRow}, {}}}, {}};
  EXPECT_EQ(function_to_call(program, "", {})->name, "net");
  EXPECT_EQ(function_to_call(program, "nett", {}).error().message,
            "'p.mlir' has no function 'nett' (did you mean 'net'?); there are: net, log");
  // One without results is called where it is asked for, or is the only one.
  EXPECT_EQ(function_to_call(program, "log", {})->name, "log");
}

}  // namespace
}  // namespace hone::tune
