// Code objects and disassemblies, as the emulator of gfx942 reads them.
#include "emulator/code_object.h"

#include "emulator/program.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hone;

constexpr char kDisassembly[] = "\ts_endpgm // 000000001900: BF810000\n";

void check(const emulator::CodeObject& code) {
  for (const emulator::Kernel& kernel : code.kernels()) {
    fuzz::require(code.kernel(kernel.name) != nullptr, "a kernel is found by its name");
    fuzz::require(kernel.preload_dwords <= kernel.user_scalars,
                  "preloaded arguments are in registers");
    for (const emulator::KernelArgument& argument : kernel.arguments) {
      fuzz::require(argument.offset + argument.size <= kernel.argument_bytes,
                    "an argument is among the arguments");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  const auto code = emulator::read_code_object(std::as_bytes(std::span(text)), kDisassembly);
  if (code) check(*code);
  const auto program = emulator::Program::decode(text);
  if (!program) return 0;
  for (const emulator::Instruction& instruction : program->instructions()) {
    fuzz::require(instruction.run != nullptr, "each instruction has a handler");
    fuzz::require(instruction.target <= program->instructions().size(),
                  "a branch stays in the program");
  }
  return 0;
}
