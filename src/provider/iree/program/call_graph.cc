#include "provider/iree/program/call_graph.h"

namespace hone::iree {
namespace {

// Functions that call themselves are followed so far.
constexpr int kDeepestCall = 16;

}  // namespace

CallGraph::CallGraph(const Ir& ir, const OwnedModule& program) {
  for (const MlirOperation function : ir.children(program.get(), "util.func")) {
    Node& node = nodes_[ir.symbol(function)];
    node.is_public = ir.string_value(ir.attribute(function, "sym_visibility")) != "private";
    ir.walk(function, [&](MlirOperation operation) {
      if (ir.is(operation, "util.global.store")) node.stores = true;
      if (ir.is(operation, "util.call"))
        ++node.calls[ir.leaf_symbol(ir.attribute(operation, "callee"))];
    });
  }
}

void CallGraph::add_calls(const std::string& function, int times, int depth,
                          CountByFunction& counts) const {
  const auto node = nodes_.find(function);
  if (node == nodes_.end() || depth > kDeepestCall) return;
  counts[function] += times;
  for (const auto& [callee, calls] : node->second.calls)
    add_calls(callee, times * calls, depth + 1, counts);
}

CountByFunction CallGraph::per_call(const CountByFunction& in_functions) const {
  CountByFunction all;
  for (const auto& [name, node] : nodes_) {
    if (!node.is_public) continue;
    CountByFunction calls;
    add_calls(name, 1, 0, calls);
    for (const auto& [function, count] : in_functions)
      if (const auto called = calls.find(function); called != calls.end())
        all[name] += count * called->second;
  }
  return all;
}

bool CallGraph::keeps_state(const std::string& function) const {
  CountByFunction calls;
  add_calls(function, 1, 0, calls);
  for (const auto& [name, times] : calls)
    if (nodes_.at(name).stores) return true;
  return false;
}

}  // namespace hone::iree
