#include "provider/iree/program/program_in_f32.h"

#include <algorithm>
#include <map>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {
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

Result<std::string> compile_program_in_f32(const Library& library, const std::string& path,
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
