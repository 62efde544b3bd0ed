#include "provider/iree/program/derived_modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {

namespace {

constexpr std::string_view kMeasuredWorkload = "measured_workload",
                           kMeasuredConstants = "measured_constants";

bool is_device(const Ir& ir, MlirOperation operation) {
  return ir.is(operation, "util.global") &&
         ir.text(ir.attribute(operation, "type")) == "!hal.device";
}

}  // namespace

std::string stand_alone_text(const Ir& ir, const OwnedModule& program,
                             const std::string& executable) {
  const OwnedModule copy = program.clone();
  for (const MlirOperation operation : ir.children(copy.get())) {
    if (ir.is(operation, "hal.executable") && ir.symbol(operation) == executable)
      ir.set_attribute(operation, "sym_visibility", std::string("\"public\""));
    else if (!is_device(ir, operation))
      ir.api().mlirOperationDestroy(operation);
  }
  return ir.text(copy.get());
}

std::string with_launch_values(const Ir& ir, const OwnedModule& dispatch,
                               const LaunchValues& values) {
  const OwnedModule copy = dispatch.clone();
  const auto set = [&](MlirOperation operation, std::string_view name, const auto& numbers) {
    if (!numbers.empty())
      ir.set_attribute(operation, name, fmt::format("array<i64: {}>", fmt::join(numbers, ", ")));
  };
  for (const MlirOperation each : exports_in(ir, copy.get())) {
    set(each, kMeasuredWorkload, values.workload);
    set(each, kMeasuredConstants, values.constants);
  }
  return ir.text(copy.get());
}

LaunchValues launch_values(const Ir& ir, MlirOperation export_operation) {
  LaunchValues values{ir.long_integers(ir.attribute(export_operation, kMeasuredWorkload)), {}};
  for (const std::int64_t word :
       ir.long_integers(ir.attribute(export_operation, kMeasuredConstants)))
    values.constants.push_back(static_cast<std::uint32_t>(word));
  return values;
}

namespace {

// Lets the readers of a cast of AMD's buffers read its operand, and destroys it. Returns false,
// and does nothing, if its type goes further: a subview's result has it too.
bool bypass(const Ir& ir, MlirOperation cast, const Readers& readers) {
  const MlirValue result = ir.results(cast).front(), value = ir.operands(cast).front();
  const auto found = readers.find(result);
  const std::vector<MlirOperation> reading =
      found != readers.end() ? found->second : std::vector<MlirOperation>();
  const bool ends_there = std::ranges::all_of(reading, [&](MlirOperation reader) {
    return is_any_of(ir.name(reader),
                     {"iree_codegen.load_from_buffer", "iree_codegen.store_to_buffer"});
  });
  if (!ends_there) return false;
  for (const MlirOperation reader : reading) {
    const std::vector<MlirValue> operands = ir.operands(reader);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i] == result) ir.set_operand(reader, i, value);
  }
  ir.api().mlirOperationDestroy(cast);
  return true;
}

Status remove_configurations(const Ir& ir, const OwnedModule& module) {
  std::vector<MlirOperation> computed, casts;
  ir.walk(module.get(), [&](MlirOperation operation) {
    for (const char* name : {"lowering_config", "translation_info", "root_op"})
      if (ir.attribute(operation, name)) ir.remove_attribute(operation, name);
    if (ir.is(operation, "iree_codegen.dispatch_config")) computed.push_back(operation);
    // The form of AMD's buffers, which the compiler chooses with the configuration.
    if (ir.is(operation, "amdgpu.fat_raw_buffer_cast")) casts.push_back(operation);
  });
  for (const MlirOperation operation : computed) ir.api().mlirOperationDestroy(operation);
  if (casts.empty()) return {};
  const Readers readers = ir.readers_in(module.get());
  for (const MlirOperation cast : casts)
    if (!bypass(ir, cast, readers))
      return input_error(
          "the file's kernel takes parts of buffers in a form of AMD's, which cannot be configured "
          "anew; tune the dispatch in its program: hone tune PROGRAM --benchmark FILE");
  return {};
}

// The device of a module at executable-sources, and its variants' target.
struct ModuleTarget {
  std::string device, variant;

  // "<"rocm", "rocm-hsaco-fb", {...": backend and format of the variant.
  std::string_view backend() const {
    const std::string_view text = std::string_view(variant).substr(variant.find('<') + 1);
    return text.substr(0, text.find(", {"));
  }
};

ModuleTarget target_of(const Ir& ir, const OwnedModule& module) {
  ModuleTarget target;
  for (const MlirOperation global : ir.children(module.get(), "util.global"))
    if (is_device(ir, global)) target.device = ir.text(ir.attribute(global, "initial_value"));
  if (const MlirOperation variant = ir.find(module.get(), "hal.executable.variant"))
    target.variant = ir.text(ir.attribute(variant, "target"));
  return target;
}

Result<ModuleTarget> target_of(const CompilerSession& session) {
  Invocation compile(session);
  constexpr std::string_view kProgram =
      "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %r = arith.addf %a, %a : tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n";
  if (!compile.parse("target", kProgram) || !compile.run(kStart, kExecutableSources))
    return input_error("IREE makes no code for this target:\n{}", compile.diagnostics());
  return target_of(Ir(session.api()), compile.take_module());
}

// Makes a module for another backend one for the device that the session's flags name.
Status retarget(const CompilerSession& session, const OwnedModule& module) {
  const Ir ir(session.api());
  HONE_ASSIGN(const ModuleTarget wanted, target_of(session));
  const ModuleTarget stated = target_of(ir, module);
  if (stated.variant.empty() || stated.backend() == wanted.backend()) return {};
  for (const MlirOperation global : ir.children(module.get(), "util.global"))
    if (is_device(ir, global)) ir.set_attribute(global, "initial_value", wanted.device);
  ir.walk(module.get(), [&](MlirOperation operation) {
    if (ir.is(operation, "hal.executable.variant"))
      ir.set_attribute(operation, "target", wanted.variant);
  });
  return {};
}

}  // namespace

Result<bool> unconfigure(const CompilerSession& session, const OwnedModule& module) {
  const Ir ir(session.api());
  if (ir.children(module.get(), "hal.executable").empty()) return false;
  HONE_TRY(remove_configurations(ir, module));
  HONE_TRY(retarget(session, module));
  return true;
}

namespace {

// Moves the root operation into a function around it. The compiler parses the function with a
// constant in the operation's place, and a clone of the operation is put there by handle: no
// printed operation is read.
class Extraction {
 public:
  Extraction(const CompilerSession& session, const DispatchIr& dispatch)
      : session_(session), ir_(session.api()), root_(dispatch.root) {}

  Result<std::string> run(const std::string& name) {
    HONE_TRY(describe());
    Invocation parse(session_);
    if (!parse.parse(name, function_text()))
      return input_error("the root operation of '{}' cannot stand alone: {}", name,
                         parse.diagnostics());
    const OwnedModule module = parse.take_module();
    HONE_TRY(insert(module));
    for (const MlirOperation operation : structured_operations(ir_, module.get()))
      for (const char* attribute : {"lowering_config", "compilation_info", "root_op"})
        if (ir_.attribute(operation, attribute)) ir_.remove_attribute(operation, attribute);
    return ir_.text(module.get());
  }

 private:
  // Origin of one operand of the operation in the function.
  struct Operand {
    std::string type;
    std::string constant;  // "0.0 : f32": the operand is filled with it
    bool empty = false;    // it is only written
    bool scalar = false;   // it is the constant itself
    std::size_t name = 0;  // of the first operand that is the same value
  };

  Status describe() {
    const std::vector<MlirValue> operands = ir_.operands(root_);
    for (const MlirValue value : operands) {
      Operand& operand = operands_.emplace_back();
      while (operands[operand.name] != value) ++operand.name;
      operand.type = ir_.type_text(value);
      if (operand.type.find('?') != std::string::npos)
        return input_error("its operand {} has a shape known only at run time", operand.type);
      const MlirOperation definition = ir_.defining_operation(value);
      if (!definition) continue;
      if (ir_.is(definition, "arith.constant")) {
        operand.constant = constant_text(definition);
        operand.scalar = true;
      }
      operand.empty = ir_.is(definition, "tensor.empty");
      if (fill_constant(ir_, definition))
        operand.constant = constant_text(ir_.defining_operation(ir_.operands(definition).front()));
    }
    for (const MlirValue result : ir_.results(root_)) results_.push_back(ir_.type_text(result));
    if (results_.empty())
      return input_error("its root operation {} has no result", ir_.name(root_));
    return {};
  }

  std::string constant_text(MlirOperation constant) const {
    return ir_.text(ir_.attribute(constant, "value"));
  }

  // Text in generic form if the custom form needs more than types. The last line before the marker
  // lists operand i at place i.
  std::string function_text() const {
    std::vector<std::string> arguments, names, lines;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      names.push_back(fmt::format("%operand{}", operand.name));
      const std::string& name = names.back();
      if (operand.name < i) continue;  // an operand that is read twice
      if (operand.scalar) {
        lines.push_back(fmt::format("{} = arith.constant {}", name, operand.constant));
      } else if (operand.empty) {
        lines.push_back(fmt::format("{} = tensor.empty() : {}", name, operand.type));
      } else if (!operand.constant.empty()) {
        lines.push_back(fmt::format("{}_value = arith.constant {}", name, operand.constant));
        lines.push_back(fmt::format("{}_empty = tensor.empty() : {}", name, operand.type));
        const std::string element = operand.constant.substr(operand.constant.rfind(": ") + 2);
        lines.push_back(
            fmt::format("{0} = linalg.fill ins({0}_value : {1}) outs({0}_empty : {2}) "
                        "-> {2}",
                        name, element, operand.type));
      } else {
        arguments.push_back(fmt::format("{}: {}", name, operand.type));
      }
    }
    std::vector<std::string> types;
    for (const Operand& operand : operands_) types.push_back(operand.type);
    return fmt::format(
        "func.func @root({0}) -> ({1}) {{\n{2}\n"
        "%marker{3} = builtin.unrealized_conversion_cast {4} : {5} to {6}\n"
        "return {7} : {6}\n}}\n",
        fmt::join(arguments, ", "), fmt::join(results_, ", "), fmt::join(lines, "\n"),
        results_.size() > 1 ? fmt::format(":{}", results_.size()) : "", fmt::join(names, ", "),
        fmt::join(types, ", "), fmt::join(results_, ", "), returned());
  }

  std::string returned() const {
    if (results_.size() == 1) return "%marker";
    std::vector<std::string> names;
    for (std::size_t i = 0; i < results_.size(); ++i) names.push_back(fmt::format("%marker#{}", i));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  // Replaces the marker by a clone of the operation.
  Status insert(const OwnedModule& module) const {
    const MlirOperation marker = ir_.find(module.get(), "builtin.unrealized_conversion_cast");
    const MlirOperation end = ir_.find(module.get(), "func.return");
    if (!marker || !end)
      return input_error("the compiler changed the function around the root operation");
    const MlirOperation clone = ir_.copy_before(marker, root_);
    const std::vector<MlirValue> operands = ir_.operands(marker);
    for (std::size_t i = 0; i < operands.size(); ++i) ir_.set_operand(clone, i, operands[i]);
    const std::vector<MlirValue> results = ir_.results(clone);
    for (std::size_t i = 0; i < results.size(); ++i) ir_.set_operand(end, i, results[i]);
    session_.api().mlirOperationDestroy(marker);
    return bring_constants(clone);
  }

  // Constants that the body uses and that stand outside of it come along.
  Status bring_constants(MlirOperation clone) const {
    Status status;
    ir_.walk(clone, [&](MlirOperation operation) {
      if (operation == clone || !status) return;
      const std::vector<MlirValue> operands = ir_.operands(operation);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const MlirOperation definition = ir_.defining_operation(operands[i]);
        if (!definition || ir_.is_inside(definition, clone)) continue;
        if (!ir_.is(definition, "arith.constant")) {
          status = input_error("its root operation uses a value that {} computes outside of it",
                               ir_.name(definition));
          return;
        }
        ir_.set_operand(operation, i, ir_.results(ir_.copy_before(clone, definition)).at(0));
      }
    });
    return status;
  }

  const CompilerSession& session_;
  Ir ir_;
  MlirOperation root_;
  std::vector<Operand> operands_;
  std::vector<std::string> results_;
};

}  // namespace

Result<std::string> extract_root(const CompilerLibrary& library, const std::string& name,
                                 const std::string& source, const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all));
  HONE_ASSIGN(const DispatchIr dispatch, read_dispatch(session, name, source));
  if (!dispatch.root) return input_error("'{}' has no root operation", name);
  return Extraction(session, dispatch).run(name);
}

namespace {

// Widens the types of the buffers that programs from PyTorch and ONNX take and return. IREE 3.13
// keeps them narrow when it promotes the rest, so the program could not be called.
void widen_buffers(const Ir& ir, const OwnedModule& module) {
  ir.walk(module.get(), [&](MlirOperation operation) {
    if (ir.is(operation, "hal.tensor.import"))
      ir.set_attribute(operation, "target_encoding", ir.type_text(ir.results(operation).front()));
    else if (ir.is(operation, "hal.tensor.export"))
      ir.set_attribute(operation, "source_encoding", ir.type_text(ir.operands(operation).front()));
  });
}

constexpr std::string_view kOfType = " : ";

std::string_view before(std::string_view text, std::string_view end) {
  return text.substr(0, text.find(end));
}

std::string_view behind_last(std::string_view text, std::string_view begin) {
  const auto at = text.rfind(begin);
  return at == std::string_view::npos ? "" : text.substr(at + begin.size());
}

// "@name" of "... @name : type ..."; empty where there is none.
std::string_view symbol_in(std::string_view line) {
  const auto at = line.find('@');
  return at == std::string_view::npos ? "" : before(line.substr(at), kOfType);
}

}  // namespace

std::string widen_behind_loads(std::string_view module) {
  std::map<std::string_view, std::string_view> narrow;  // type, by symbol
  std::string text;
  int loads = 0;
  while (!module.empty()) {
    const std::string_view line = before(module, "\n");
    module.remove_prefix(std::min(module.size(), line.size() + 1));
    const auto parameter = line.find(" = #stream.parameter.named<");
    const std::string_view symbol = symbol_in(line);
    if (line.find("util.global ") != std::string_view::npos &&
        parameter != std::string_view::npos && line.find(kOfType) < parameter) {
      // util.global private @w : tensor<4xf32> = #stream.parameter.named<...> : tensor<4xf16>
      narrow[symbol] = behind_last(line, kOfType);
      text += before(line, kOfType);
      text += line.substr(parameter);
    } else if (const auto known = narrow.find(symbol);
               known != narrow.end() && line.find("util.global.load ") != std::string_view::npos) {
      // %w = util.global.load @w : tensor<4xf32>
      const std::string loaded = fmt::format("%narrow_parameter_{}", loads++);
      const std::string_view operation = behind_last(before(line, kOfType), " = ");
      text += fmt::format("{} = {} : {}\n{} = arith.extf {} : {} to {}", loaded, operation,
                          known->second, before(line, " = "), loaded, known->second,
                          behind_last(line, kOfType));
    } else {
      text += line;
    }
    text += '\n';
  }
  return text;
}

Result<std::string> compile_program_in_f32(const CompilerLibrary& library, const std::string& path,
                                           std::string_view bytes,
                                           const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back("--iree-input-promote-f16-to-f32");
  all.emplace_back("--iree-input-promote-bf16-to-f32");
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all, Threads::kAll));
  const auto refused = [&](const Invocation& invocation) {
    return input_error("IREE cannot compile '{}' in f32:\n{}", path, invocation.diagnostics());
  };
  const Ir ir(session.api());
  Invocation input(session);
  if (!input.parse(path, bytes) || !input.run(kStart, kInput)) return refused(input);
  OwnedModule module = input.take_module();
  widen_buffers(ir, module);
  // Large constants are part of the text: it is made only where it is needed.
  Invocation compile(session);
  const bool has_parameters = bytes.find("parameter.named<") != std::string_view::npos;
  const bool taken = has_parameters ? compile.parse(path, widen_behind_loads(ir.text(module.get())))
                                    : compile.import(std::move(module));
  if (!taken || !compile.run(kInput, kEnd)) return refused(compile);
  return compile.vm_bytecode();
}

}  // namespace hone::iree
