// hone dispatches --graph dot.
#include <gmock/gmock.h>

#include "cli/dispatches_output.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = iree::ProgramGraph::Kind;

class DispatchGraph : public HoneCommand {
 protected:
  // Where Graphviz is installed, it has to read the text.
  void expect_that_graphviz_reads(const std::string& text) const {
    if (std::system("dot -V > /dev/null 2>&1") != 0) return;  // NOLINT(concurrency-mt-unsafe)
    Command dot;
    dot.arguments = {"dot", "-Tcanon", write("graph.dot", text)};
    const auto ran = run_process(dot, {});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->exit_code, 0) << ran->standard_error.text();
  }
};

TEST_F(DispatchGraph, DrawsTheLaunchesOfAProgram) {
  const Ran ran = hone({"dispatches", example("feed_forward.mlir"), "--graph", "dot"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, R"(digraph "feed_forward.mlir" {
  node [fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=10];
  n0 [label="input 0", shape=ellipse];
  n1 [label="input 1", shape=ellipse];
  n2 [label="input 2", shape=ellipse];
  n3 [label="input 3", shape=ellipse];
  n4 [label="input 4", shape=ellipse];
  n5 [label="feed_forward_dispatch_0_matmul_128x3072x768_f32\nmatmul 128x3072x768 f32,f32->f32", shape=box];
  n6 [label="feed_forward_dispatch_1_matmul_128x768x3072_f32\nmatmul 128x768x3072 f32,f32->f32", shape=box];
  n7 [label="output 0", shape=ellipse];
  n0 -> n5 [label="128x768xf32"];
  n1 -> n5 [label="768x3072xf32"];
  n2 -> n5 [label="3072xf32"];
  n5 -> n6 [label="128x3072xf32"];
  n3 -> n6 [label="3072x768xf32"];
  n4 -> n6 [label="768xf32"];
  n6 -> n7 [label="128x768xf32"];
}
)");
  expect_that_graphviz_reads(ran.out);
}

// A product of 64x64x64 is all that the program does.
TEST_F(DispatchGraph, HasTheSharesOfAProfile) {
  const Ran ran = hone({"dispatches", write("product.mlir", matmul_program("64")), "--graph", "dot",
                        "--profile", "--quick"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\\nmatmul 64x64x64 f32,f32->f32\\n100.0 % of the time\", "
                                 "shape=box];\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("GFLOP/s")));
}

TEST_F(DispatchGraph, RefusesWhatItCannotDraw) {
  const std::string program = write("product.mlir", matmul_program("64"));
  const Ran unknown = hone({"dispatches", program, "--graph", "svg"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, StartsWith("hone: --graph: svg not in {dot}\n"));
  const Ran both = hone({"dispatches", program, "--graph", "dot", "--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.out, "");
  EXPECT_EQ(both.err, "hone: --graph prints a picture: leave --json and --extract-root out\n");
}

// Functions are clusters where there are several, and a symbol may hold a quote.
TEST_F(DispatchGraph, WritesClustersAndEscapesNames) {
  iree::ProgramGraph graph;
  graph.nodes = {{Kind::kDispatch, "a\"b", "f", true}, {Kind::kCall, "f", "g"}};
  graph.edges = {{0, 1, "4xf32"}};
  const std::string text = dot_text(graph, "p\\q", {{"a\"b", {"matmul"}}});
  EXPECT_EQ(text, R"(digraph "p\\q" {
  node [fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=10];
  subgraph "cluster_f" {
  label="f";
  n0 [label="a\"b\nmatmul\nin a branch or loop", shape=box];
  }
  subgraph "cluster_g" {
  label="g";
  n1 [label="call f", shape=box, peripheries=2];
  }
  n0 -> n1 [label="4xf32"];
}
)");
  expect_that_graphviz_reads(text);
}

}  // namespace
}  // namespace hone::cli
