// Tuning specs and programs in an older syntax, which the upgrade reads as text.
#include "provider/iree/spec_upgrade/program.h"
#include "provider/iree/spec_upgrade/sequence.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  using namespace hone::iree;
  const std::string text(fuzz::text_of(bytes, size));
  const auto program = upgraded_program(text, "old.mlir");
  if (!program)
    fuzz::require(program.error().message.find("old.mlir") != std::string::npos,
                  "an error names its file");
  const auto file = SpecFile::read(text, "old.mlir");
  if (!file) {
    fuzz::require(file.error().message.find("old.mlir") != std::string::npos,
                  "an error names its file");
    return 0;
  }
  for (const SpecOperation& operation : file->operations())
    (void)upgraded_operation(*file, operation);
  for (const auto& [name, alias] : file->aliases().all()) (void)upgraded_alias(alias.definition);
  const UpgradedText entry = upgraded_entry_point(*file, file->pairs());
  fuzz::require(entry.text.find("__kernel_config") != std::string::npos, "the entry point stays");
  return 0;
}
