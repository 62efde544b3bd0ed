#include "provider/iree/program/program_graph.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/json_fields.h"
#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {
namespace {

using Kind = ProgramGraph::Kind;

bool is_launch(const Ir& ir, MlirOperation operation) {
  return ir.is(operation, "flow.dispatch") || ir.is(operation, "util.call");
}

// Whether the function is worth drawing: it launches or calls something. One that only calls its
// form with fences ("f" calls "f$async") has the same graph as that.
bool has_graph(const Ir& ir, MlirOperation function) {
  const std::string with_fences = ir.symbol(function) + "$async";
  return !!ir.find(function, [&](MlirOperation each) {
    return is_launch(ir, each) && ir.leaf_symbol(ir.attribute(each, "callee")) != with_fences;
  });
}

// Whether data may flow in the value: not in sizes, fences and devices.
bool holds_data(const Ir& ir, MlirValue value) {
  const std::string type = ir.type_text(value);
  return type.starts_with("tensor<") || type.starts_with("!hal.buffer");
}

// Takes the value at a position, where the list is that long.
void take(const std::vector<MlirValue>& values, std::size_t position,
          std::vector<MlirValue>& taken) {
  if (position < values.size()) taken.push_back(values[position]);
}

// Returns the values that an argument inside a structured loop has: before its first turn, and what
// a turn leaves for the next one.
std::vector<MlirValue> carried(const Ir& ir, const Ir::Argument& argument, MlirValue value) {
  const auto [loop, number] = argument;
  std::vector<MlirValue> values;
  if (ir.is(loop, "scf.for") && number > 0) {
    take(ir.operands(loop), number + 2, values);  // behind lower bound, upper bound and step
    take(ir.yielded(loop), number - 1, values);
  } else if (ir.is(loop, "scf.while")) {
    const bool before = std::ranges::any_of(ir.arguments(loop),
                                            [&](MlirValue each) { return each.ptr == value.ptr; });
    take(before ? ir.operands(loop) : ir.yielded(loop, 0), before ? number : number + 1, values);
    if (before) take(ir.yielded(loop, 1), number, values);
  }
  return values;
}

// Returns the values that a result of a structured branch or loop may be; of another operation, its
// operands.
std::vector<MlirValue> made_of(const Ir& ir, MlirOperation operation, MlirValue result) {
  const std::vector<MlirValue> results = ir.results(operation);
  const auto number = static_cast<std::size_t>(
      std::ranges::find(results, result.ptr, &MlirValue::ptr) - results.begin());
  std::vector<MlirValue> values;
  if (ir.is(operation, "scf.if")) {
    for (const std::intptr_t region : {0, 1}) take(ir.yielded(operation, region), number, values);
  } else if (ir.is(operation, "scf.for")) {
    take(ir.operands(operation), number + 3, values);  // that of no turn
    take(ir.yielded(operation), number, values);
  } else if (ir.is(operation, "scf.while")) {
    take(ir.yielded(operation), number + 1, values);  // behind the condition
  } else {
    values = ir.operands(operation);
  }
  return values;
}

// Returns the values that `value` is made of, one operation or branch away.
std::vector<MlirValue> sources_of(const Ir& ir, MlirValue value) {
  if (const MlirOperation made = ir.defining_operation(value)) return made_of(ir, made, value);
  const std::optional<Ir::Argument> argument = ir.argument(value);
  const bool in_loop = argument && !ir.is(argument->of, "util.func");
  return in_loop ? carried(ir, *argument, value) : ir.passed_to(value);
}

// Nodes and edges of one function.
class FunctionGraph {
 public:
  FunctionGraph(const Ir& ir, MlirOperation function, ProgramGraph& graph)
      : ir_(ir), function_(function), graph_(graph) {}

  void read() {
    const std::vector<MlirValue> arguments = ir_.arguments(function_);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (holds_data(ir_, arguments[i]))
        made_by_[arguments[i].ptr] = add(Kind::kArgument, fmt::format("input {}", i), {});
    ir_.walk(function_, [&](MlirOperation operation) {
      if (is_launch(ir_, operation))
        add_launch(operation);
      else if (ir_.is(operation, "util.return"))
        add_results(operation);
    });
    for (const auto& [reader, operands] : readers_)
      for (const MlirValue operand : operands) {
        Seen seen;
        connect(operand, {}, reader, seen);
      }
  }

 private:
  using Seen = std::set<const void*>;

  std::size_t add(Kind kind, std::string name, MlirOperation operation) {
    graph_.nodes.push_back({kind, std::move(name), ir_.symbol(function_),
                            operation && ir_.in_branch_or_loop(operation)});
    return graph_.nodes.size() - 1;
  }

  void add_launch(MlirOperation operation) {
    const bool is_dispatch = ir_.is(operation, "flow.dispatch");
    const std::vector<MlirAttribute> entries =
        ir_.elements(ir_.attribute(operation, "entry_points"));
    const MlirAttribute symbol =
        is_dispatch && !entries.empty() ? entries.front() : ir_.attribute(operation, "callee");
    const std::size_t node =
        add(is_dispatch ? Kind::kDispatch : Kind::kCall, ir_.leaf_symbol(symbol), operation);
    for (const MlirValue result : ir_.results(operation)) made_by_[result.ptr] = node;
    readers_.emplace_back(node, ir_.operands(operation));
  }

  void add_results(MlirOperation operation) {
    const std::vector<MlirValue> results = ir_.operands(operation);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (holds_data(ir_, results[i]))
        readers_.emplace_back(add(Kind::kResult, fmt::format("output {}", i), operation),
                              std::vector<MlirValue>{results[i]});
  }

  // Adds an edge to `reader` from each node that makes `value` or a tensor that it is made of.
  // `type`: of the tensor nearest to that node.
  void connect(MlirValue value, std::string type, std::size_t reader, Seen& seen) {
    if (!value || !holds_data(ir_, value) || !seen.insert(value.ptr).second) return;
    if (const auto tensor = ir_.type(value)) type = problem::to_string(*tensor);
    if (const auto found = made_by_.find(value.ptr); found != made_by_.end()) {
      ProgramGraph::Edge edge{found->second, reader, std::move(type)};
      if (std::ranges::count(graph_.edges, edge) == 0) graph_.edges.push_back(std::move(edge));
      return;
    }
    for (const MlirValue from : sources_of(ir_, value)) connect(from, type, reader, seen);
  }

  const Ir& ir_;
  MlirOperation function_;
  ProgramGraph& graph_;
  std::map<const void*, std::size_t> made_by_;  // node by value
  std::vector<std::pair<std::size_t, std::vector<MlirValue>>> readers_;
};

// Removes arguments that nothing reads.
void remove_unread(ProgramGraph& graph) {
  std::set<std::size_t> kept;
  for (const ProgramGraph::Edge& edge : graph.edges) kept.insert(edge.from);
  std::vector<ProgramGraph::Node> nodes;
  std::vector<std::size_t> moved_to;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    moved_to.push_back(nodes.size());
    if (graph.nodes[i].kind != Kind::kArgument || kept.contains(i))
      nodes.push_back(std::move(graph.nodes[i]));
  }
  for (ProgramGraph::Edge& edge : graph.edges)
    edge.from = moved_to[edge.from], edge.to = moved_to[edge.to];
  graph.nodes = std::move(nodes);
}

constexpr std::pair<Kind, std::string_view> kKindNames[] = {{Kind::kArgument, "argument"},
                                                            {Kind::kDispatch, "dispatch"},
                                                            {Kind::kCall, "call"},
                                                            {Kind::kResult, "result"}};

constexpr auto kNodeFields = [](auto& node, auto&& field) {
  field.named("kind", node.kind, kKindNames);
  field("name", node.name);
  field("function", node.function);
  field("in_branch_or_loop", node.in_branch_or_loop);
};

constexpr auto kEdgeFields = [](auto& edge, auto&& field) {
  field("from", edge.from);
  field("to", edge.to);
  field("type", edge.type);
};

constexpr auto kGraphFields = [](auto& graph, auto&& field) {
  field.list("nodes", graph.nodes, kNodeFields);
  field.list("edges", graph.edges, kEdgeFields);
};

}  // namespace

Result<ProgramGraph> program_graph(const CompilerLibrary& library, const std::string& path,
                                   std::string_view bytes, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session,
              CompilerSession::create(library, flags, Threads::kAll));
  const Ir ir(session.api());
  Invocation invocation(session);
  if (!invocation.parse(path, bytes))
    return input_error("IREE does not accept '{}':\n{}", path, invocation.diagnostics());
  OwnedModule parsed = invocation.take_module();
  if (!ir.children(parsed.get(), "hal.executable").empty())
    return input_error(
        "'{}' holds one executable, in which no tensors flow: give the program that it is from",
        path);
  Invocation compile(session);
  if (!compile.import(std::move(parsed)) || !compile.run(kStart, kFlow))
    return input_error("IREE cannot compile '{}':\n{}", path, compile.diagnostics());
  const OwnedModule module = compile.take_module();
  ProgramGraph graph;
  for (const MlirOperation function : ir.children(module.get(), "util.func"))
    if (has_graph(ir, function)) FunctionGraph(ir, function, graph).read();
  remove_unread(graph);
  return graph;
}

void to_json(nlohmann::json& json, const ProgramGraph& graph) {
  write_fields(json, graph, kGraphFields);
}

void from_json(const nlohmann::json& json, ProgramGraph& graph) {
  read_fields(json, graph, kGraphFields);
  for (const ProgramGraph::Edge& edge : graph.edges)
    if (edge.from >= graph.nodes.size() || edge.to >= graph.nodes.size())
      refuse_json("an edge names a node that is not there");
}

}  // namespace hone::iree
