// emulated_opcodes FILE...: for each code object its kernels and instructions, and what the
// emulator lacks of them. Exit status: 0 nothing is lacking, 1 something is, 2 a file is no code
// object, 3 the disassembler is missing.
#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/file.h"
#include "emulator/code_object.h"

int main(int count, char** arguments) {
  bool lacking = false;
  for (int at = 1; at < count; ++at) {
    const auto file = hone::read_file(arguments[at]);
    if (!file) {
      fmt::print(stderr, "{}\n", file.error().message);
      return 2;
    }
    const auto code = hone::emulator::read_code_object(std::as_bytes(std::span(*file)));
    if (!code) {
      fmt::print(stderr, "{}: {}\n", arguments[at], code.error().message);
      return code.error().kind == hone::ErrorKind::kEnvironment ? 3 : 2;
    }
    const hone::emulator::Program& program = code->program();
    fmt::print("{}: {} kernels, {} instructions, {} unknown\n", arguments[at],
               code->kernels().size(), program.instructions().size(), program.unknown().size());
    for (const auto& [name, times] : program.unknown())
      fmt::print("  {} ({} times)\n", name, times);
    lacking = lacking || !program.unknown().empty();
  }
  return lacking ? 1 : 0;
}
