#include "provider/iree/program/extern_launches.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/program/launches.h"

namespace hone::iree {
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

constexpr auto kExternLaunchFields = [](auto& launch, auto&& field) {
  field("function", launch.function);
  field("grid", launch.grid);
  field("block", launch.block);
  field("constants", launch.constants);
  field("binding_bytes", launch.binding_bytes);
  field("written_bindings", launch.written_bindings);
};

}  // namespace

Result<std::vector<ExternLaunch>> extern_launches(const Library& library, const std::string& path,
                                                  std::string_view bytes,
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

void to_json(nlohmann::json& json, const ExternLaunch& launch) {
  write_fields(json, launch, kExternLaunchFields);
}

void from_json(const nlohmann::json& json, ExternLaunch& launch) {
  read_fields(json, launch, kExternLaunchFields);
}

}  // namespace hone::iree
