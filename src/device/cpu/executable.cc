#include "device/cpu/executable.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "device/cpu/elf_check.h"

namespace hone::device::cpu {
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
  const abi::Library* description = nullptr;
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
  state->description = reinterpret_cast<const abi::Library*>(header);

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

}  // namespace hone::device::cpu
