// The code of candidates: whether it may be given to the system's loader, and what names it. The
// loader itself runs in the runner, which may die of it (tests/cli/kernel_faults_test.cc).
#include "device/cpu/executable.h"
#include "provider/artifact.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const std::string_view code = fuzz::text_of(bytes, size);
  (void)device::cpu::check_shared_object(code);
  provider::Artifact artifact;
  artifact.format = "embedded-elf-x86_64";
  artifact.code = code;
  artifact.launch.entry = "kernel";
  const std::string name = provider::identity(artifact);
  fuzz::require(name == provider::identity(artifact), "equal code has one name");
  artifact.launch.grid[0] = 2;
  fuzz::require(name != provider::identity(artifact), "another grid has another");
  return 0;
}
