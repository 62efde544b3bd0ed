#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "emulator/code_object.h"

namespace hone::emulator {
namespace {

constexpr char kDisassembler[] = "llvm-objdump-19";

Result<ProcessResult> run(std::vector<std::string> arguments, const ProcessLimits& limits) {
  arguments.insert(arguments.begin(), kDisassembler);
  Result<ProcessResult> ran = run_process(Command{std::move(arguments)}, limits);
  if (ran || ran.error().kind != ErrorKind::kEnvironment) return ran;
  return advised(
      environment_error("the emulator of gfx942 needs {}: {}", kDisassembler, ran.error().message),
      "install it: apt-get install llvm-19");
}

}  // namespace

Status check_disassembler() {
  return run({"--version"}, {.seconds = 60}).map([](const ProcessResult&) {});
}

Result<std::string> disassemble(std::span<const std::byte> file) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-code-"));
  const auto path = folder.path() / "code.hsaco";
  HONE_TRY(write_file_atomically(path, {reinterpret_cast<const char*>(file.data()), file.size()}));
  ProcessLimits limits;
  limits.seconds = 60;
  limits.output_bytes = std::size_t{1} << 30;
  HONE_ASSIGN(const ProcessResult ran, run({"-d", "--mcpu=gfx942", path.string()}, limits));
  if (!ran.succeeded()) {
    const std::string words = ran.standard_error.text();
    return failure("{} on the code object: {}: {}", kDisassembler, describe(ran, limits),
                   std::string_view(words).substr(0, words.find('\n')));
  }
  return ran.standard_output.text();
}

}  // namespace hone::emulator
