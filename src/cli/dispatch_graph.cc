#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/dispatches_output.h"
#include "provider/iree/compile_worker.h"

namespace hone::cli {
namespace {

using GraphNode = iree::ProgramGraph::Node;
using NodeKind = iree::ProgramGraph::Kind;

// Returns a DOT string. A symbol of the program may hold quotes.
std::string dot_string(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return '"' + escaped + '"';
}

std::string_view shape_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kArgument:
    case NodeKind::kResult:
      return "ellipse";
    case NodeKind::kCall:
      return "box, peripheries=2";
    case NodeKind::kDispatch:
      break;
  }
  return "box";
}

std::string label_of(const GraphNode& node, const BoxLines& lines) {
  std::string label = (node.kind == NodeKind::kCall ? "call " : "") + node.name;
  if (const auto more = lines.find(node.name);
      more != lines.end() && node.kind == NodeKind::kDispatch)
    for (const std::string& line : more->second) label += "\n" + line;
  if (node.in_branch_or_loop) label += "\nin a branch or loop";
  return label;
}

}  // namespace

std::string dot_text(const iree::ProgramGraph& graph, const std::string& title,
                     const BoxLines& lines) {
  std::string text = fmt::format(
      "digraph {} {{\n  node [fontname=\"Helvetica\"];\n  edge "
      "[fontname=\"Helvetica\", fontsize=10];\n",
      dot_string(title));
  const bool clustered = std::ranges::adjacent_find(graph.nodes, std::not_equal_to(),
                                                    &GraphNode::function) != graph.nodes.end();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (clustered && (i == 0 || graph.nodes[i - 1].function != node.function))
      text += fmt::format("{}  subgraph {} {{\n  label={};\n", i == 0 ? "" : "  }\n",
                          dot_string("cluster_" + node.function), dot_string(node.function));
    text += fmt::format("  n{} [label={}, shape={}];\n", i, dot_string(label_of(node, lines)),
                        shape_of(node.kind));
  }
  if (clustered) text += "  }\n";
  for (const iree::ProgramGraph::Edge& edge : graph.edges)
    text += fmt::format("  n{} -> n{} [label={}];\n", edge.from, edge.to, dot_string(edge.type));
  return text + "}\n";
}

Status print_graph(trial::CompileService& compiler, const std::string& path,
                   const std::string& bytes, const std::vector<std::string>& flags,
                   const BoxLines& lines) {
  HONE_ASSIGN(const iree::ProgramGraph graph,
              compiler.ask(iree::kProgramGraph, {path, bytes, flags}));
  fmt::print("{}", dot_text(graph, std::filesystem::path(path).filename().string(), lines));
  return {};
}

}  // namespace hone::cli
