#include "provider/iree/program/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {

namespace {

// Values of operand segment `index` of an operation with `operandSegmentSizes`; none where it has
// no such segment.
std::vector<MlirValue> operand_segment(const Ir& ir, MlirOperation operation, std::size_t index) {
  const std::vector<int> sizes = ir.integers(ir.attribute(operation, "operandSegmentSizes"));
  const std::vector<MlirValue> all = ir.operands(operation);
  if (index >= sizes.size()) return {};
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(index), 0L);
  return {all.begin() + begin, all.begin() + begin + sizes[index]};
}

// The operands of one launch.
struct LaunchOperands {
  std::vector<MlirValue> workload, constants;
  std::vector<MlirValue> resources, resource_offsets;  // of each binding
};

// Returns the value outside stream.cmd.execute that a block argument of it stands for; any other
// value as it is.
MlirValue captured(const Ir& ir, MlirValue value) {
  const auto argument = ir.argument(value);
  if (!argument || !ir.is(argument->of, "stream.cmd.execute")) return value;
  const std::vector<MlirValue> resources = operand_segment(ir, argument->of, 0);
  return argument->number < resources.size() ? resources[argument->number] : value;
}

// The function's argument that a resource is; -1 where it is something else.
int function_argument(const Ir& ir, MlirValue resource) {
  const MlirOperation made = ir.defining_operation(captured(ir, resource));
  if (!ir.is(made, "stream.tensor.import")) return -1;
  const auto argument = ir.argument(ir.operands(made).at(0));
  return argument ? static_cast<int>(argument->number) : -1;
}

void add_arguments(const Ir& ir, const LaunchOperands& operands, std::vector<int>& arguments) {
  std::vector<int> these;
  for (std::size_t i = 0; i < operands.resources.size(); ++i) {
    const bool whole =
        i < operands.resource_offsets.size() && ir.constant(operands.resource_offsets[i]) == 0;
    these.push_back(whole ? function_argument(ir, operands.resources[i]) : -1);
  }
  if (arguments.empty()) arguments = these;
  arguments.resize(std::max(arguments.size(), these.size()), -1);
  these.resize(arguments.size(), -1);
  for (std::size_t i = 0; i < these.size(); ++i)
    if (these[i] != arguments[i]) arguments[i] = -1;
}

// `function`: that launches it so often; empty for an initializer.
void add_launch(const Sizes& sizes, const LaunchOperands& operands, const std::string& function,
                const CallCount& count, Launches& launches) {
  LaunchValues values;
  for (const MlirValue operand : operands.constants) {
    const auto value = sizes.integer(operand);
    if (!value) values.unknown.push_back(values.constants.size());
    values.constants.push_back(static_cast<std::uint32_t>(value.value_or(0)));
  }
  for (const MlirValue operand : operands.workload) {
    const auto value = sizes.integer(operand);
    if (!value) launches.known = false;
    values.workload.push_back(value.value_or(0));
  }
  auto same = std::ranges::find(launches.different, values, &Launches::Different::values);
  if (same == launches.different.end())
    same = launches.different.insert(same, {std::move(values), {}});
  if (!function.empty()) same->in_functions[function] += count;
}

}  // namespace

std::string entry_point(const Ir& ir, MlirAttribute symbol) {
  return fmt::format("{}::{}", to_view(ir.api().mlirSymbolRefAttrGetRootReference(symbol)),
                     ir.leaf_symbol(symbol));
}

std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes) {
  std::map<std::string, Launches> found;
  for (const MlirOperation top : ir.children(program.get())) {
    const bool called = ir.is(top, "util.func");
    if (!called && !ir.is(top, "util.initializer")) continue;
    ir.walk(top, [&](MlirOperation operation) {
      std::vector<MlirAttribute> entries;
      LaunchOperands operands;
      // Operand segments as the compiler's StreamOps.td and HALOps.td order them.
      if (ir.is(operation, "stream.cmd.dispatch")) {
        entries = ir.elements(ir.attribute(operation, "entry_points"));
        operands = {operand_segment(ir, operation, 0), operand_segment(ir, operation, 1),
                    operand_segment(ir, operation, 2), operand_segment(ir, operation, 4)};
      } else if (ir.is(operation, "hal.command_buffer.dispatch")) {
        const auto function = operand_segment(ir, operation, 2);
        if (!function.empty())
          entries = {ir.attribute(ir.defining_operation(function[0]), "entry_point")};
        operands = {{}, operand_segment(ir, operation, 6), {}, {}};
      }
      for (const MlirAttribute entry : entries) {
        if (!entry) continue;
        Launches& launches = found[entry_point(ir, entry)];
        add_launch(sizes, operands, called ? ir.symbol(top) : std::string(),
                   {1, ir.in_branch_or_loop(operation)}, launches);
        if (called) add_arguments(ir, operands, launches.arguments);
      }
    });
  }
  return found;
}

namespace {

// Functions that call themselves are followed so far.
constexpr int kDeepestCall = 16;

CallCount of_each(const CallCount& outer, const CallCount& inner) {
  return {outer.times * inner.times, outer.varies || inner.varies};
}

}  // namespace

CallCount& CallCount::operator+=(const CallCount& other) {
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

void CallGraph::add_calls(const std::string& function, const CallCount& count, int depth,
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

namespace {

// Operand segments and accesses of stream.cmd.dispatch as the compiler's StreamOps.td has them.
constexpr std::size_t kConstants = 1, kLengths = 5;
constexpr int kWrites = 2;

std::vector<std::int64_t> numbers_of(const Ir& ir, const std::vector<MlirValue>& values) {
  std::vector<std::int64_t> numbers;
  for (const MlirValue value : values) numbers.push_back(ir.constant(value).value_or(-1));
  return numbers;
}

// Reads the part of a launch that the export states for all launches. The export holds no code of
// the compiler's.
ExternLaunch exported(const Ir& ir, MlirOperation export_operation) {
  ExternLaunch launch;
  launch.function = ir.symbol(export_operation);
  for (const MlirAttribute extent : ir.elements(ir.attribute(export_operation, "workgroup_size")))
    launch.block.push_back(ir.integer_value(extent).value_or(-1));
  const MlirOperation count = ir.find(export_operation, "hal.return");
  if (count) launch.grid = numbers_of(ir, ir.operands(count));
  return launch;
}

void read_launch(const Ir& ir, MlirOperation dispatch, ExternLaunch& launch) {
  for (const MlirValue value : operand_segment(ir, dispatch, kConstants)) {
    const auto constant = ir.constant(value);
    if (!constant) {
      launch.constants.clear();
      break;
    }
    launch.constants.push_back(static_cast<std::uint32_t>(*constant));
  }
  launch.binding_bytes = numbers_of(ir, operand_segment(ir, dispatch, kLengths));
  const auto accesses = ir.elements(ir.attribute(dispatch, "resource_accesses"));
  for (std::size_t i = 0; i < accesses.size(); ++i)
    if ((ir.integer_value(accesses[i]).value_or(0) & kWrites) != 0)
      launch.written_bindings.push_back(static_cast<std::int64_t>(i));
}

}  // namespace

Result<std::vector<ExternLaunch>> extern_launches(const CompilerLibrary& library,
                                                  const std::string& path, std::string_view bytes,
                                                  const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, flags));
  const Ir ir(session.api());
  Invocation invocation(session);
  if (!invocation.parse(path, bytes) || !invocation.run(kStart, kExecutableSources))
    return input_error("IREE cannot compile '{}':\n{}", path, invocation.diagnostics());
  const OwnedModule module = invocation.take_module();
  std::map<std::string, ExternLaunch> exports;  // by executable and export
  for (const MlirOperation executable : ir.children(module.get(), "hal.executable"))
    ir.walk(executable, [&](MlirOperation operation) {
      if (!ir.is(operation, "hal.executable.variant") || !ir.attribute(operation, "objects"))
        return;
      for (const MlirOperation each : ir.children(operation, "hal.executable.export"))
        exports[ir.symbol(executable) + "::" + ir.symbol(each)] = exported(ir, each);
    });
  std::vector<ExternLaunch> launches;
  ir.walk(module.get(), [&](MlirOperation operation) {
    if (!ir.is(operation, "stream.cmd.dispatch")) return;
    for (const MlirAttribute entry : ir.elements(ir.attribute(operation, "entry_points"))) {
      const auto found = exports.find(entry_point(ir, entry));
      if (found == exports.end()) continue;
      launches.push_back(found->second);
      read_launch(ir, operation, launches.back());
    }
  });
  return launches;
}

}  // namespace hone::iree
