#include "provider/iree/program/call_graph.h"

namespace hone::iree {
namespace {

// Functions that call themselves are followed so far.
constexpr int kDeepestCall = 16;

Count of_each(const Count& outer, const Count& inner) {
  return {outer.times * inner.times, outer.varies || inner.varies};
}

}  // namespace

Count& Count::operator+=(const Count& other) {
  times += other.times;
  varies = varies || other.varies;
  return *this;
}

CallGraph::CallGraph(const Ir& ir, const OwnedModule& program) {
  for (const MlirOperation function : ir.children(program.get(), "util.func")) {
    Node& node = nodes_[ir.symbol(function)];
    node.is_public = ir.string_value(ir.attribute(function, "sym_visibility")) != "private";
    ir.walk(function, [&](MlirOperation operation) {
      if (ir.is(operation, "util.global.store")) node.stores = true;
      if (ir.is(operation, "util.call"))
        node.calls[ir.leaf_symbol(ir.attribute(operation, "callee"))] +=
            {1, ir.in_branch_or_loop(operation)};
    });
  }
}

void CallGraph::add_calls(const std::string& function, const Count& count, int depth,
                          CountByFunction& counts) const {
  const auto node = nodes_.find(function);
  if (node == nodes_.end() || depth > kDeepestCall) return;
  counts[function] += count;
  for (const auto& [callee, calls] : node->second.calls)
    add_calls(callee, of_each(count, calls), depth + 1, counts);
}

CountByFunction CallGraph::per_call(const CountByFunction& in_functions) const {
  CountByFunction all;
  for (const auto& [name, node] : nodes_) {
    if (!node.is_public) continue;
    CountByFunction calls;
    add_calls(name, {1}, 0, calls);
    for (const auto& [function, count] : in_functions)
      if (const auto called = calls.find(function); called != calls.end())
        all[name] += of_each(called->second, count);
  }
  return all;
}

bool CallGraph::keeps_state(const std::string& function) const {
  CountByFunction calls;
  add_calls(function, {1}, 0, calls);
  for (const auto& [name, count] : calls)
    if (nodes_.at(name).stores) return true;
  return false;
}

}  // namespace hone::iree
