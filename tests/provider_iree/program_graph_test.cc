// Graphs as IREE 3.13 splits these programs.
#include "provider/iree/program/program_graph.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using Edge = ProgramGraph::Edge;
using Kind = ProgramGraph::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ProgramGraph graph_of(const std::string& text) {
  const auto graph = program_graph(compiler(), "program.mlir", text, avx512_flags());
  if (!graph) throw std::runtime_error(graph.error().message);
  return *graph;
}

std::vector<std::string> names(const ProgramGraph& graph) {
  std::vector<std::string> names;
  for (const ProgramGraph::Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

// Edges as "from -type-> to".
std::vector<std::string> arrows(const ProgramGraph& graph) {
  std::vector<std::string> arrows;
  for (const Edge& edge : graph.edges)
    arrows.push_back(fmt::format("{} -{}-> {}", graph.nodes[edge.from].name, edge.type,
                                 graph.nodes[edge.to].name));
  return arrows;
}

TEST(ProgramGraph, HasALaunchPerNodeAndATensorPerEdge) {
  const ProgramGraph graph = graph_of(example("feed_forward.mlir"));
  EXPECT_THAT(names(graph),
              ElementsAre("input 0", "input 1", "input 2", "input 3", "input 4",
                          "feed_forward_dispatch_0_matmul_128x3072x768_f32",
                          "feed_forward_dispatch_1_matmul_128x768x3072_f32", "output 0"));
  EXPECT_THAT(graph.edges, ElementsAre(Edge{0, 5, "128x768xf32"}, Edge{1, 5, "768x3072xf32"},
                                       Edge{2, 5, "3072xf32"}, Edge{5, 6, "128x3072xf32"},
                                       Edge{3, 6, "3072x768xf32"}, Edge{4, 6, "768xf32"},
                                       Edge{6, 7, "128x768xf32"}));
  EXPECT_EQ(graph.nodes[5].kind, Kind::kDispatch);
  EXPECT_EQ(graph.nodes[5].function, "feed_forward");
}

// 128x768 goes into the transpose as 128x12x64; the edge says what the product makes.
TEST(ProgramGraph, FollowsATensorThroughItsReshape) {
  EXPECT_THAT(arrows(graph_of(example("attention_block.mlir"))),
              testing::Contains("main_dispatch_2_matmul_128x768x256_f32 -128x768xf32-> "
                                "main_dispatch_3_elementwise_transpose_128x12x64_f32"));
}

constexpr char kProduct[] = R"(
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
)";

// A turn of the loop reads the argument or what the turn before has made.
TEST(ProgramGraph, FollowsWhatALoopCarries) {
  const ProgramGraph graph = graph_of(fmt::format(R"(
func.func @f(%x: tensor<64x64xf32>, %b: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<64x64xf32> {{
    {}
    scf.yield %c : tensor<64x64xf32>
  }}
  return %r : tensor<64x64xf32>
}})",
                                                  kProduct));
  const std::string product = "f_dispatch_0_matmul_64x64x64_f32";
  EXPECT_THAT(names(graph), ElementsAre("input 0", "input 1", product, "output 0"));
  EXPECT_TRUE(graph.nodes[2].in_branch_or_loop);
  EXPECT_THAT(arrows(graph),
              ElementsAre("input 0 -64x64xf32-> " + product, product + " -64x64xf32-> " + product,
                          "input 1 -64x64xf32-> " + product, "input 0 -64x64xf32-> output 0",
                          product + " -64x64xf32-> output 0"));
}

TEST(ProgramGraph, DrawsACalledFunctionOnce) {
  const ProgramGraph graph = graph_of(fmt::format(R"(
func.func private @shared(%a: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {{noinline}} {{
  %b = util.optimization_barrier %a : tensor<64x64xf32>
  {}
  return %c : tensor<64x64xf32>
}}
func.func @twice(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %b = call @shared(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = call @shared(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}})",
                                                  kProduct));
  EXPECT_THAT(arrows(graph),
              ElementsAre("input 0 -64x64xf32-> shared_dispatch_0_matmul_64x64x64_f32",
                          "shared_dispatch_0_matmul_64x64x64_f32 -64x64xf32-> output 0",
                          "input 0 -64x64xf32-> shared", "shared -64x64xf32-> shared",
                          "shared -64x64xf32-> output 0"));
  EXPECT_EQ(graph.nodes.front().function, "shared");
  EXPECT_EQ(graph.nodes.back().function, "twice");
  EXPECT_EQ(graph.nodes[4].kind, Kind::kCall);
}

TEST(ProgramGraph, TellsWhyAnExecutableHasNone) {
  const problem::Program program = load("f.mlir", example("feed_forward.mlir"));
  const auto graph =
      program_graph(compiler(), "one.mlir", program.dispatches[0].source, avx512_flags());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().kind, ErrorKind::kInput);
  EXPECT_THAT(graph.error().message, HasSubstr("give the program that it is from"));
}

TEST(ProgramGraph, IsRefusedWhereAnEdgeNamesNoNode) {
  nlohmann::json json = graph_of(example("feed_forward.mlir"));
  EXPECT_EQ(json.get<ProgramGraph>().edges.size(), 7u);
  json["edges"][0]["to"] = 8;
  EXPECT_THROW(json.get<ProgramGraph>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace hone::iree
