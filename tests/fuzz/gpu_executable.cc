// What the compiler makes for GPUs: the kernel in its container, and the metadata of AMD's code
// objects, which are ELF files.
#include "base/elf.h"
#include "provider/artifact.h"
#include "provider/code_object_metadata.h"
#include "provider/iree/gpu/executable.h"
#include "provider/resources.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hone;

// The kernel of the corpus's code objects.
constexpr char kEntry[] = "main_dispatch_0_elementwise_64_f32";

void read_code_object(std::string_view code, std::string_view entry) {
  const auto file = read_elf(code);
  if (file)
    for (const ElfSection& section : file->sections)
      fuzz::require(section.bytes.empty() ||
                        (section.bytes.data() >= code.data() &&
                         section.bytes.data() + section.bytes.size() <= code.data() + code.size()),
                    "a section lies in the file");
  const auto resources = provider::hsaco_resources(code, entry);
  (void)provider::code_object_kernels(code);
  fuzz::require(!resources || file, "metadata is only in an ELF file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  read_code_object(text, kEntry);
  for (const int ordinal : {0, 1, -1}) {
    const auto kernel = iree::gpu_kernel(text, ordinal);
    if (!kernel) continue;
    fuzz::require(kernel->format == provider::kCudaPtx || kernel->format == provider::kRocmHsaco,
                  "a kernel is PTX or a code object");
    fuzz::require(text.find(kernel->code) != std::string_view::npos, "the code is in the file");
    fuzz::require(text.find(kernel->entry) != std::string_view::npos, "its name is in the file");
    read_code_object(kernel->code, kernel->entry);
    provider::Artifact artifact;
    artifact.format = kernel->format;
    artifact.code = kernel->code;
    artifact.launch.entry = kernel->entry;
    fuzz::require(provider::identity(artifact) == provider::identity(artifact),
                  "equal code has one name");
  }
  return 0;
}
