#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/process.h"
#include "emulator/code_object.h"

namespace hone::emulator {

Result<std::string> disassemble(std::span<const std::byte> file) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-code-"));
  const auto path = folder.path() / "code.hsaco";
  HONE_TRY(write_file_atomically(path, {reinterpret_cast<const char*>(file.data()), file.size()}));
  ProcessLimits limits;
  limits.seconds = 60;
  limits.output_bytes = std::size_t{1} << 30;
  const Command command{{"llvm-objdump-19", "-d", "--mcpu=gfx942", path.string()}};
  const Result<ProcessResult> ran = run_process(command, limits);
  if (!ran && ran.error().kind == ErrorKind::kEnvironment) {
    return advised(
        environment_error("the emulator of gfx942 needs llvm-objdump-19: {}", ran.error().message),
        "install it: apt-get install llvm-19");
  }
  if (!ran) return tl::unexpected(ran.error());
  if (!ran->succeeded()) {
    const std::string words = ran->standard_error.text();
    return failure("llvm-objdump-19 on the code object: {}: {}", describe(*ran, limits),
                   std::string_view(words).substr(0, words.find('\n')));
  }
  return ran->standard_output.text();
}

}  // namespace hone::emulator
