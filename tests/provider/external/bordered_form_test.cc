// What has to stand around a kernel whose operands lie otherwise than an operation's.
#include "provider/external/bordered_form.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/provider/external/operands.h"

namespace hone::external {
namespace {

using nlohmann::json;
using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Operand = ExternalKernel::Operand;

// A dense tensor whose dimension d has sizes[d] elements and is walked by loop loops[d] of `count`.
json tensor(int view, const char* type, const std::vector<std::int64_t>& sizes,
            const std::vector<std::size_t>& loops, std::size_t count) {
  json dimensions = json::array();
  std::vector<std::int64_t> strides(count, 0);
  std::int64_t pitch = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    std::vector<std::int64_t> of_loop(count, 0);
    of_loop[loops[d]] = 1;
    strides[loops[d]] += pitch;
    pitch *= sizes[d];
    dimensions.insert(dimensions.begin(),
                      json::object({{"size", sizes[d]}, {"of_loop", of_loop}, {"constant", 0}}));
  }
  return {{"view", view},       {"type", type},      {"offset", 0},
          {"strides", strides}, {"constant", false}, {"dimensions", dimensions}};
}

json statement(const std::vector<std::pair<std::int64_t, const char*>>& loops, json lhs, json rhs,
               json store) {
  json said = json::parse(R"({
    "kind": "contraction", "entry": "", "bindings": 3, "constants": 0, "start": 0.0,
    "views": [{"binding": 0, "offset": 0, "words": []}, {"binding": 1, "offset": 0, "words": []},
              {"binding": 2, "offset": 0, "words": []}],
    "values": [{"op": "root", "type": "f32", "operands": []}]})");
  for (const auto& [size, role] : loops) said["loops"].push_back({{"size", size}, {"role", role}});
  store["value"] = 0;
  said["lhs"] = std::move(lhs);
  said["rhs"] = std::move(rhs);
  said["stores"] = {std::move(store)};
  return said;
}

// Sums of f32 products, 64 x 32 x 16.
json product(const std::vector<std::int64_t>& a = {64, 16},
             const std::vector<std::size_t>& a_loops = {0, 2}) {
  return statement({{64, "m"}, {32, "n"}, {16, "k"}}, tensor(0, "f32", a, a_loops, 3),
                   tensor(1, "f32", {16, 32}, {2, 1}, 3), tensor(2, "f32", {64, 32}, {0, 1}, 3));
}

ExternalKernel matmul(ElementType type, ElementType result) {
  ExternalKernel kernel;
  kernel.manifest = "mm.yaml";
  kernel.operands = {operand("A", type, {"M", "K"}), operand("B", type, {"K", "N"}),
                     operand("C", result, {"M", "N"})};
  return kernel;
}

std::vector<std::string> words_of(const ExternalKernel& kernel, const json& said) {
  const auto found = form_with_borders(kernel, said);
  if (!found) return {found.error().message};
  std::vector<std::string> words;
  for (const Border& border : found->borders) words.push_back(in_words(border));
  return words;
}

TEST(BorderedForm, NothingStandsAroundAKernelThatFits) {
  EXPECT_THAT(words_of(matmul(ElementType::kF32, ElementType::kF32), product()), IsEmpty());
}

TEST(BorderedForm, FloatsAreConvertedOnTheirWay) {
  // 64 x 16, 16 x 32 and 64 x 32 values of two bytes.
  EXPECT_THAT(words_of(matmul(ElementType::kF16, ElementType::kBF16), product()),
              ElementsAre("A: f32 to f16, 0.00205 MB", "B: f32 to f16, 0.00102 MB",
                          "C: bf16 to f32, 0.0041 MB"));
  json integers = product();
  integers["lhs"]["type"] = "i8";
  EXPECT_THAT(words_of(matmul(ElementType::kF32, ElementType::kF32), integers),
              ElementsAre("mm.yaml:1: A is i8, and the kernel's is f32"));
}

TEST(BorderedForm, ATransposedOperandIsTurned) {
  const auto found =
      form_with_borders(matmul(ElementType::kF32, ElementType::kF32), product({16, 64}, {2, 0}));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->borders.size(), 1u);
  EXPECT_EQ(in_words(found->borders[0]), "A: transposed from K x M to M x K, 0.0041 MB");
  EXPECT_THAT(found->borders[0].permutation, ElementsAre(1, 0));
  EXPECT_EQ(found->form.sizes.at("M"), 64);
  EXPECT_EQ(found->form.sizes.at("K"), 16);
}

// Square matrices: the strides say which is transposed, not the sizes.
TEST(BorderedForm, SquareOperandsAreToldApartByTheirStrides) {
  const auto square = [](std::vector<std::size_t> b) {
    return statement({{64, "m"}, {64, "n"}, {64, "k"}}, tensor(0, "f32", {64, 64}, {0, 2}, 3),
                     tensor(1, "f32", {64, 64}, b, 3), tensor(2, "f32", {64, 64}, {0, 1}, 3));
  };
  const ExternalKernel kernel = matmul(ElementType::kF32, ElementType::kF32);
  EXPECT_THAT(words_of(kernel, square({2, 1})), IsEmpty());
  EXPECT_THAT(words_of(kernel, square({1, 2})),
              ElementsAre("B: transposed from N x K to K x N, 0.0164 MB"));
}

// Rows in batches, K before them: batch and row are M together once K is behind both.
TEST(BorderedForm, BatchesBecomeRowsBehindATransposition) {
  const json split = statement(
      {{4, "m"}, {16, "m"}, {32, "n"}, {8, "k"}}, tensor(0, "f32", {4, 8, 16}, {0, 3, 1}, 4),
      tensor(1, "f32", {8, 32}, {3, 2}, 4), tensor(2, "f32", {4, 16, 32}, {0, 1, 2}, 4));
  const auto found = form_with_borders(matmul(ElementType::kF32, ElementType::kF32), split);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->form.sizes.at("M"), 64);
  ASSERT_EQ(found->borders.size(), 1u);
  EXPECT_EQ(in_words(found->borders[0]), "A: transposed from M x K x M to M x M x K, 0.00205 MB");
  EXPECT_THAT(found->borders[0].permutation, ElementsAre(0, 2, 1));
}

// What is known before the program runs may be moved rather than what is not: of two ways that of
// the constant. Without it the smaller one.
TEST(BorderedForm, TheWayThatMovesTheLeastWhileTheProgramRunsIsTaken) {
  // C is stated as N x M: C = (A B)' is fitted by turning C, or by A and B in each other's place.
  ExternalKernel kernel = matmul(ElementType::kF32, ElementType::kF32);
  json said = product();
  said["stores"][0] = tensor(2, "f32", {32, 64}, {1, 0}, 3);
  said["stores"][0]["value"] = 0;
  // A and B turned are 4096 + 2048 bytes, C is 8192.
  EXPECT_THAT(words_of(kernel, said), ElementsAre("A: transposed from K x M to M x K, 0.00205 MB",
                                                  "B: transposed from N x K to K x N, 0.0041 MB"));
  said["lhs"]["constant"] = true;
  EXPECT_THAT(words_of(kernel, said)[1],
              "B: transposed from N x K to K x N, 0.0041 MB, of a constant: before the program "
              "runs");
}

// MISA's filter, and a convolution with channels first.
TEST(BorderedForm, AConvolutionsOperandsAreTurned) {
  ExternalKernel kernel;
  kernel.convolution = true;
  kernel.manifest = "conv.yaml";
  kernel.operands = {operand("image", ElementType::kF16, {"N", "H", "W", "C"}),
                     operand("filter", ElementType::kF16, {"O", "KH", "KW", "C"}),
                     operand("output", ElementType::kF16, {"N", "HO", "WO", "O"})};
  // Loops n, ho, wo, o, kh, kw, c; two images of 34 x 34 x 1280.
  const std::vector<std::pair<std::int64_t, const char*>> loops{
      {2, "m"}, {32, "m"}, {32, "m"}, {1280, "n"}, {3, "k"}, {3, "k"}, {1280, "k"}};
  const auto image = [](const std::vector<std::int64_t>& sizes, std::vector<std::size_t> walked) {
    json use = tensor(0, "f16", sizes, walked, 7);
    for (std::size_t d = 0; d < walked.size(); ++d)
      if (walked[d] == 1 || walked[d] == 2) {
        use["dimensions"][d]["of_loop"][walked[d] + 3] = 1;
        use["strides"][walked[d] + 3] = use["strides"][walked[d]];
      }
    return use;
  };
  const json swapped = statement(loops, image({2, 34, 34, 1280}, {0, 1, 2, 6}),
                                 tensor(1, "f16", {3, 3, 1280, 1280}, {4, 5, 6, 3}, 7),
                                 tensor(2, "f16", {2, 32, 32, 1280}, {0, 1, 2, 3}, 7));
  // 1280 x 3 x 3 x 1280 values of two bytes.
  EXPECT_THAT(words_of(kernel, swapped),
              ElementsAre("filter: transposed from KH x KW x C x O to O x KH x KW x C, 29.5 MB"));
  const json first = statement(loops, image({2, 1280, 34, 34}, {0, 6, 1, 2}),
                               tensor(1, "f16", {1280, 1280, 3, 3}, {3, 6, 4, 5}, 7),
                               tensor(2, "f16", {2, 1280, 32, 32}, {0, 3, 1, 2}, 7));
  const auto found = form_with_borders(kernel, first);
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> words;
  for (const Border& border : found->borders) words.push_back(in_words(border));
  EXPECT_THAT(words,
              ElementsAre("image: transposed from N x C x H x W to N x H x W x C, 5.92 MB",
                          "filter: transposed from O x C x KH x KW to O x KH x KW x C, 29.5 MB",
                          "output: transposed from N x HO x WO x O to N x O x HO x WO, 5.24 MB"));
  EXPECT_EQ(found->form.sizes.at("W"), 34);
  EXPECT_EQ(found->form.sizes.at("C"), 1280);
}

TEST(BorderedForm, WhatNoTranspositionHelpsIsCalledThat) {
  json begun = product({16, 64}, {2, 0});
  begun["start"] = 1.0;
  EXPECT_THAT(words_of(matmul(ElementType::kF32, ElementType::kF32), begun),
              ElementsAre("its sums do not begin at 0"));
  // Of a dispatch, whose statement says nothing of dimensions.
  json dispatch = product({16, 64}, {2, 0});
  for (const char* each : {"lhs", "rhs"}) dispatch[each].erase("dimensions");
  EXPECT_THAT(words_of(matmul(ElementType::kF32, ElementType::kF32), dispatch),
              ElementsAre(HasSubstr("A does not lie as M x K: it lies as K x M")));
}

}  // namespace
}  // namespace hone::external
