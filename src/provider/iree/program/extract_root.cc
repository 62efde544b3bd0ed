#include "provider/iree/program/extract_root.h"

#include <algorithm>

#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
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

Result<std::string> extract_root(const Library& library, const std::string& name,
                                 const std::string& source, const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all));
  HONE_ASSIGN(const DispatchIr dispatch, read_dispatch(session, name, source));
  if (!dispatch.root) return input_error("'{}' has no root operation", name);
  return Extraction(session, dispatch).run(name);
}

}  // namespace hone::iree
