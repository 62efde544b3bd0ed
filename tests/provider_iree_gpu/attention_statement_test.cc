// What attention states for those who write kernels in its place, as IREE splits programs.
#include <gmock/gmock.h>

#include "provider/iree/gpu/space.h"
#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// Attention over `loops`, in parts that tests change.
struct Program {
  std::string loops = "b, m, n, k1, k2";
  std::string query = "4x256x64xf16", query_map = "b, m, k1";
  std::string key = "4x77x64xf16", key_map = "b, k2, k1";
  std::string value = "4x77x64xf16", value_map = "b, k2, n";
  std::string result = "4x256x64xf16", result_map = "b, m, n";
  std::string mask, mask_map;
  std::string scores = "iree_linalg_ext.yield %score : f32";
  std::string arguments, behind, returned = "%r", returned_type = result;

  std::string text() const {
    const auto map = [&](const std::string& indices) {
      return fmt::format("affine_map<({}) -> ({})>", loops, indices);
    };
    const std::string masked = mask.empty() ? "" : ", " + map(mask_map);
    return fmt::format(R"(
func.func @main(%q: tensor<{0}>, %k: tensor<{1}>, %v: tensor<{2}>{3}{4}) -> tensor<{5}> {{
  %scale = arith.constant 0.125 : f16
  %e = tensor.empty() : tensor<{6}>
  %r = iree_linalg_ext.attention <{{indexing_maps = [{7}, {8}, {9}, {10}{11}, {12}]}}>
      ins(%q, %k, %v, %scale{13} : tensor<{0}>, tensor<{1}>, tensor<{2}>, f16{14})
      outs(%e : tensor<{6}>) {{
    ^bb0(%score: f32):
      {15}
  }} -> tensor<{6}>
  {16}
  return {17} : tensor<{5}>
}})",
                       query, key, value, mask.empty() ? "" : ", %mask: tensor<" + mask + ">",
                       arguments, returned_type, result, map(query_map), map(key_map),
                       map(value_map), map(""), masked, map(result_map),
                       mask.empty() ? "" : ", %mask", mask.empty() ? "" : ", tensor<" + mask + ">",
                       scores, behind, returned);
  }
};

problem::Dispatch attention_dispatch(const Program& program) {
  const auto loaded = load_program(compiler(), "main.mlir", program.text(), flags_for("sm_80"), {});
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return loaded->dispatches.front();
}

json statement_of(const Program& program) {
  return attention_dispatch(program).statement.value();
}

std::string roles_and_sizes(const json& stated) {
  std::string text;
  for (const json& loop : stated.at("loops"))
    text += fmt::format("{}:{} ", loop.at("role").get<std::string>(), loop.at("size").get<int>());
  return text;
}

TEST(AttentionStatement, SaysWhereQueriesKeysAndValuesLie) {
  const json stated = statement_of({});
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(stated["kind"], "attention");
  EXPECT_EQ(roles_and_sizes(stated), "batch:4 m:256 n:64 k1:64 k2:77 ");
  // 256 queries of 64 elements are 16384, 77 keys 4928.
  EXPECT_EQ(stated["query"]["strides"], json({16384, 64, 0, 1, 0}));
  EXPECT_EQ(stated["key"]["strides"], json({4928, 0, 0, 1, 64}));
  EXPECT_EQ(stated["value"]["strides"], json({4928, 0, 1, 0, 64}));
  for (const char* operand : {"query", "key", "value"}) EXPECT_EQ(stated[operand]["type"], "f16");
  EXPECT_EQ(stated["scale"], 0.125);
  EXPECT_FALSE(stated.contains("mask"));
  EXPECT_EQ(stated["values"], json::parse(R"([{"op": "root", "type": "f16", "operands": []}])"));
  ASSERT_EQ(stated["stores"].size(), 1u);
  EXPECT_EQ(stated["stores"][0]["strides"], json({16384, 64, 1, 0, 0}));
  EXPECT_EQ(stated["bindings"], 4);
  EXPECT_EQ(stated["constants"], 0);
}

// Rows that hold all heads beside each other, and values that are stored element by element.
TEST(AttentionStatement, AnyLayoutIsOneOfStrides) {
  Program program;
  program.loops = "b, h, m, n, k1, k2";
  program.query = program.result = program.returned_type = "2x256x10x64xbf16";
  program.key = "2x512x10x64xbf16";
  program.value = "2x10x64x512xbf16";
  program.query_map = "b, m, h, k1";
  program.key_map = "b, k2, h, k1";
  program.value_map = "b, h, n, k2";
  program.result_map = "b, m, h, n";
  const json stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(roles_and_sizes(stated), "batch:2 batch:10 m:256 n:64 k1:64 k2:512 ");
  // A row is 640 elements, an image of 256 rows 163840, of 512 rows 327680.
  EXPECT_EQ(stated["query"]["strides"], json({163840, 64, 640, 0, 1, 0}));
  EXPECT_EQ(stated["key"]["strides"], json({327680, 64, 0, 0, 1, 640}));
  EXPECT_EQ(stated["value"]["strides"], json({327680, 32768, 0, 512, 0, 1}));
  EXPECT_EQ(stated["stores"][0]["strides"], json({163840, 64, 640, 1, 0, 0}));
}

// Four queries of a group have one head of keys: for a kernel they are more rows. Where the result
// lies as the queries do, IREE itself makes one loop of the two.
TEST(AttentionStatement, QueriesThatShareKeysAreRows) {
  Program program;
  program.loops = "b, g, m, n, k1, k2";
  program.query = "2x4x128x64xf16";
  program.result = program.returned_type = "2x128x4x64xf16";
  program.key = program.value = "2x96x64xf16";
  program.query_map = "b, g, m, k1";
  program.result_map = "b, m, g, n";
  const json stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(roles_and_sizes(stated), "batch:2 m:4 m:128 n:64 k1:64 k2:96 ");
}

TEST(AttentionStatement, AMaskIsAnOperandOfItsOwn) {
  Program program;
  program.mask = "4x77xf16";
  program.mask_map = "b, k2";
  json stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(stated["mask"]["strides"], json({77, 0, 0, 0, 1}));
  EXPECT_EQ(stated["mask"]["type"], "f16");
  EXPECT_EQ(stated["bindings"], 5);
  // IREE stores truth values as bytes, and takes the lowest bit of each.
  program.mask = "4x256x77xi1";
  program.mask_map = "b, m, k2";
  stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  EXPECT_EQ(stated["mask"]["strides"], json({19712, 77, 0, 0, 1}));
  EXPECT_EQ(stated["mask"]["type"], "i1");
}

// Narrowed, a residual added, and stored with the heads inside of the rows.
TEST(AttentionStatement, SaysWhatGoesBehindIt) {
  Program program;
  program.result = "4x256x64xf32";
  program.arguments = ", %x: tensor<256x4x64xf16>";
  program.behind = R"(%o = tensor.empty() : tensor<256x4x64xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(m, b, n) -> (b, m, n)>, affine_map<(m, b, n) -> (m, b, n)>,
                       affine_map<(m, b, n) -> (m, b, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r, %x : tensor<4x256x64xf32>, tensor<256x4x64xf16>) outs(%o : tensor<256x4x64xf16>) {
    ^bb0(%sum: f32, %add: f16, %u: f16):
      %n = arith.truncf %sum : f32 to f16
      %a = arith.addf %n, %add : f16
      linalg.yield %a : f16
  } -> tensor<256x4x64xf16>)";
  program.returned = "%s";
  program.returned_type = "256x4x64xf16";
  const json stated = statement_of(program);
  ASSERT_FALSE(stated.contains("why_not")) << stated["why_not"];
  std::vector<std::string> operations;
  for (const json& value : stated["values"]) operations.push_back(value["op"]);
  EXPECT_THAT(operations, ElementsAre("root", "load", "arith.truncf", "arith.addf"));
  EXPECT_EQ(stated["values"][0]["type"], "f32");
  EXPECT_EQ(stated["values"][1]["strides"], json({64, 256, 1, 0, 0}));
  EXPECT_EQ(stated["stores"][0]["strides"], json({64, 256, 1, 0, 0}));
  EXPECT_EQ(stated["stores"][0]["value"], 3);
}

// No instruction divides 77 keys, so there is nothing to configure; the compiler's own kernel is
// what others are compared with.
TEST(AttentionStatement, WhatHasNoSpaceHasADefault) {
  const problem::Dispatch dispatch = attention_dispatch({});
  EXPECT_EQ(dispatch.not_tunable, "");
  EXPECT_NE(why_no_gpu_space(dispatch, *problem::gpu_target("sm_80")), "");
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for("sm_80"));
  ASSERT_TRUE(prepared) << prepared.error().message;
  const auto artifact = prepared->compile(std::nullopt);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->launch.entry, dispatch.name);
}

TEST(AttentionStatement, SaysWhatIsOfAnotherForm) {
  Program program;
  program.scores = R"(%t = math.tanh %score : f32
      iree_linalg_ext.yield %t : f32)";
  EXPECT_EQ(statement_of(program)["why_not"], "its attention changes the scores");
}

}  // namespace
}  // namespace hone::iree::gpu
