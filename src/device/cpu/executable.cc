#include "device/cpu/executable.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace hone::device::cpu {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr Elf64_Half kMachine = EM_RISCV;
#else
#error "no ELF machine number for this architecture"
#endif

bool within(std::uint64_t offset, std::uint64_t size, std::size_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace

Status check_shared_object(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof(header) || std::memcmp(code.data(), ELFMAG, SELFMAG) != 0)
    return failure("the code ({} bytes) is not an ELF file", code.size());
  std::memcpy(&header, code.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN)
    return failure("the code is an ELF file, but no 64-bit little-endian shared object");
  if (header.e_machine != kMachine)
    return failure("the code is for another processor (ELF machine {}, this one is {})",
                   header.e_machine, kMachine);
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !within(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), code.size()))
    return failure("the ELF file is damaged: its program headers lie outside its {} bytes",
                   code.size());
  for (Elf64_Half i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, code.data() + header.e_phoff + std::size_t{i} * sizeof(segment),
                sizeof(segment));
    if (segment.p_type == PT_LOAD && !within(segment.p_offset, segment.p_filesz, code.size()))
      return failure("the ELF file is cut off: segment {} ends behind its {} bytes", i,
                     code.size());
  }
  return {};
}

namespace {

Result<int> in_memory_file(std::string_view code) {
  const int file = memfd_create("hone-candidate", MFD_CLOEXEC);
  if (file < 0)
    return environment_error("no memory file for a candidate's code: {}", std::strerror(errno));
  while (!code.empty()) {
    const ssize_t written = write(file, code.data(), code.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = errno;
      close(file);
      return environment_error("cannot store a candidate's code in memory: {}",
                               std::strerror(reason));
    }
    code.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

Status check_imports(const abi::ImportTable& imports) {
  for (std::uint32_t i = 0; i < imports.count; ++i) {
    const std::string_view symbol = imports.symbols ? imports.symbols[i] : "";
    if (!symbol.ends_with('?'))  // optional ones may stay null
      return failure("the code imports '{}', which only IREE's runtime has", symbol);
  }
  return {};
}

Result<std::vector<Export>> read_exports(const abi::ExportTable& table) {
  if (table.count == 0) return failure("the code exports nothing to launch");
  if (!table.functions || !table.attributes)
    return failure("the code's export table has no functions or no attributes");
  std::vector<Export> exports;
  for (std::uint32_t i = 0; i < table.count; ++i) {
    const abi::DispatchAttributes& attributes = table.attributes[i];
    Export entry{.name = table.names && table.names[i] ? table.names[i] : "",
                 .ordinal = static_cast<int>(i),
                 .constants = attributes.constant_count,
                 .bindings = attributes.binding_count,
                 .local_memory_bytes = attributes.local_memory_pages * abi::kLocalMemoryPageSize,
                 .workgroup_size = {attributes.workgroup_size_x, attributes.workgroup_size_y,
                                    attributes.workgroup_size_z}};
    if (!table.functions[i]) return failure("export {} ('{}') has no code", i, entry.name);
    if (entry.constants > abi::kMaxConstants || entry.bindings > abi::kMaxBindings)
      return failure("export '{}' states {} constants and {} bindings; the interface allows {}",
                     entry.name, entry.constants, entry.bindings, abi::kMaxBindings);
    exports.push_back(std::move(entry));
  }
  return exports;
}

}  // namespace

struct Executable::State {
  int file = -1;
  void* library = nullptr;
  abi::Environment environment{};
  std::vector<abi::ImportFunction> imports;  // all null
  std::vector<const void*> import_contexts;
  const abi::LibraryDescription* description = nullptr;
  std::vector<Export> exports;

  ~State() {
    bool unloaded = true;
    if (library) {
      dlclose(library);
      if (void* still = dlopen(path().c_str(), RTLD_NOW | RTLD_NOLOAD); still != nullptr) {
        dlclose(still);
        unloaded = false;
      }
    }
    // The loader tells libraries apart by path too: as long as one is loaded under
    // /proc/self/fd/N, no other file may get the number N.
    if (file >= 0 && unloaded) close(file);
  }

  std::string path() const { return fmt::format("/proc/self/fd/{}", file); }
};

Executable::Executable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

Result<Executable> Executable::load(std::string_view code) {
  HONE_TRY(check_shared_object(code));
  auto state = std::make_unique<State>();
  HONE_ASSIGN(state->file, in_memory_file(code));
  state->library = dlopen(state->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!state->library) return failure("the system's loader refuses the code: {}", dlerror());

  auto query = reinterpret_cast<abi::QueryFunction>(dlsym(state->library, abi::kQueryName));
  if (!query)
    return failure("the code does not export {}: it is no IREE executable", abi::kQueryName);
  const auto data = processor_data();
  std::memcpy(state->environment.processor.data, data.data(), sizeof(data));
  const abi::LibraryHeader** header = query(abi::kVersion, &state->environment);
  if (!header || !*header || (*header)->version != abi::kVersion)
    return failure(
        "the code's interface version is {}, not 0.{}: it was made by an IREE that "
        "hone does not know; use 3.13",
        header && *header ? fmt::format("0.{}", (*header)->version) : "another one", abi::kVersion);
  if ((*header)->sanitizer != 0)
    return failure("the code was compiled for a sanitizer; compile it without");
  state->description = reinterpret_cast<const abi::LibraryDescription*>(header);

  HONE_TRY(check_imports(state->description->imports));
  if (state->description->constants.count != 0)
    return failure("the code needs {} executable-level constants, which hone does not have",
                   state->description->constants.count);
  state->imports.assign(state->description->imports.count, nullptr);
  state->import_contexts.assign(state->description->imports.count, nullptr);
  state->environment.import_functions = state->imports.data();
  state->environment.import_contexts = state->import_contexts.data();
  HONE_ASSIGN(state->exports, read_exports(state->description->exports));
  return Executable(std::move(state));
}

const std::vector<Export>& Executable::exports() const {
  return state_->exports;
}

Result<const Export*> Executable::find(std::string_view entry, int ordinal) const {
  std::string known;
  for (const Export& each : state_->exports) {
    if (entry.empty() ? each.ordinal == ordinal : each.name == entry) return &each;
    known += (known.empty() ? "" : ", ") + each.name;
  }
  if (entry.empty())
    return failure("the code has no export {}; it has {}", ordinal, state_->exports.size());
  return failure("the code does not export '{}'; it exports {}", entry, known);
}

abi::DispatchFunction Executable::function(int ordinal) const {
  return state_->description->exports.functions[ordinal];
}

const abi::Environment& Executable::environment() const {
  return state_->environment;
}

namespace {

#if defined(__x86_64__)
struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero for a leaf the processor does not have.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  if (static_cast<unsigned>(__get_cpuid_max(leaf & 0x80000000u, nullptr)) < leaf) return {};
  Registers registers;
  if (subleaf > 0) {
    __cpuid_count(leaf, 0, registers.eax, registers.ebx, registers.ecx, registers.edx);
    if (registers.eax < subleaf) return {};
  }
  __cpuid_count(leaf, subleaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
}

// Bit numbers in IREE's word (iree-org/iree, runtime/src/iree/schemas/cpu_feature_bits.inl) and
// where cpuid tells them (runtime/src/iree/base/internal/cpu.c), both at b48a595.
std::uint64_t x86_64_features() {
  const Registers leaf1 = cpuid(1, 0), leaf7 = cpuid(7, 0), leaf7_1 = cpuid(7, 1);
  const Registers state = cpuid(0xD, 0), extended = cpuid(0x80000001u, 0);
  std::uint64_t word = 0;
  auto copy = [&word](int to, unsigned source, int from) {
    word |= static_cast<std::uint64_t>(source >> from & 1) << to;
  };
  copy(0, leaf1.ecx, 0);           // SSE3
  copy(1, leaf1.ecx, 9);           // SSSE3
  copy(2, leaf1.ecx, 19);          // SSE4.1
  copy(3, leaf1.ecx, 20);          // SSE4.2
  copy(4, extended.ecx, 6);        // SSE4A
  if ((state.eax & 0x7) == 0x7) {  // the system saves YMM registers
    copy(10, leaf1.ecx, 28);       // AVX
    copy(11, leaf1.ecx, 12);       // FMA
    copy(12, extended.ecx, 16);    // FMA4
    copy(13, extended.ecx, 11);    // XOP
    copy(14, leaf1.ecx, 29);       // F16C
    copy(15, leaf7.ebx, 5);        // AVX2
  }
  if ((state.eax & 0xE7) == 0xE7) {  // and ZMM registers
    copy(20, leaf7.ebx, 16);         // AVX512F
    copy(21, leaf7.ebx, 28);         // AVX512CD
    copy(22, leaf7.ebx, 31);         // AVX512VL
    copy(23, leaf7.ebx, 17);         // AVX512DQ
    copy(24, leaf7.ebx, 30);         // AVX512BW
    copy(25, leaf7.ebx, 21);         // AVX512IFMA
    copy(26, leaf7.ecx, 1);          // AVX512VBMI
    copy(27, leaf7.ecx, 14);         // AVX512VPOPCNTDQ
    copy(28, leaf7.ecx, 11);         // AVX512VNNI
    copy(29, leaf7.ecx, 6);          // AVX512VBMI2
    copy(30, leaf7.ecx, 12);         // AVX512BITALG
    copy(31, leaf7_1.eax, 5);        // AVX512BF16
    copy(32, leaf7.edx, 23);         // AVX512FP16
  }
  if ((state.eax & 0x60000) == 0x60000) {  // and AMX tiles
    copy(50, leaf7.edx, 24);               // AMX-TILE
    copy(51, leaf7.edx, 25);               // AMX-INT8
    copy(52, leaf7.edx, 22);               // AMX-BF16
  }
  return word;
}
#elif defined(__aarch64__)
// Bit numbers in IREE's word, from the same file, and in the words of the kernel (Linux,
// Documentation/arch/arm64/elf_hwcaps.rst).
std::uint64_t aarch64_features() {
  const std::uint64_t first = ::getauxval(AT_HWCAP), second = ::getauxval(AT_HWCAP2);
  std::uint64_t word = 0;
  auto copy = [&word](int to, std::uint64_t source, int from) {
    word |= (source >> from & 1) << to;
  };
  copy(0, first, 0);     // FP and Advanced SIMD
  copy(1, first, 8);     // LSE
  copy(10, first, 10);   // FP16
  copy(11, first, 23);   // FP16FML
  copy(12, first, 20);   // DOTPROD
  copy(13, second, 13);  // I8MM
  copy(14, second, 14);  // BF16
  copy(20, first, 22);   // SVE
  copy(21, second, 1);   // SVE2
  copy(22, second, 36);  // SVE2P1
  copy(23, second, 4);   // SVE2-BITPERM
  copy(24, second, 10);  // F32MM
  copy(25, second, 11);  // F64MM
  copy(30, second, 23);  // SME
  copy(31, second, 37);  // SME2
  copy(32, second, 38);  // SME2P1
  return word;
}
#endif

}  // namespace

std::array<std::uint64_t, 8> processor_data() {
  std::array<std::uint64_t, 8> data{};
#if defined(__x86_64__)
  data[0] = x86_64_features();
#elif defined(__aarch64__)
  data[0] = aarch64_features();
#endif
  return data;
}

}  // namespace hone::device::cpu
