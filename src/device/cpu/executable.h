// Executables as IREE's llvm-cpu target makes them: a shared object with one query function.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cpu/executable_library.h"

namespace hone::device::cpu {

// A failure unless `code` is a complete 64-bit ELF shared object for this machine's architecture.
// The loader maps a truncated file without complaint and dies of SIGBUS later; this reads the
// program headers and finds such files before.
Status check_shared_object(std::string_view code);

// Facts of an entry point, as the library states them.
struct Export {
  std::string name;
  int ordinal = 0;
  int constants = 0;                     // 32-bit words it reads
  int bindings = 0;                      // buffers it reads or writes
  std::uint32_t local_memory_bytes = 0;  // scratch per workgroup, whole pages
  std::array<std::uint32_t, 3> workgroup_size{1, 1, 1};
};

class Executable {
 public:
  // Loads the bytes of a shared object (embedded ELF or a system library) and queries its exports.
  // Fails if the bytes are no such object, the interface version is not 0.6, or the tables are
  // malformed. Fails too if it requires imports, constants or a sanitizer that hone cannot provide.
  // Loading runs the library's code: load only in a process that may die of it.
  static Result<Executable> load(std::string_view code);
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  const std::vector<Export>& exports() const;
  // Finds an export by name if `entry` is not empty, else by ordinal. A failure lists the exports.
  Result<const Export*> find(std::string_view entry, int ordinal) const;

  abi::DispatchFunction function(int ordinal) const;
  const abi::Environment& environment() const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Processor data by which compiled code queries CPU features (IREE's cpu_data[0], x86-64), filled
// from cpuid as IREE's runtime fills it.
std::array<std::uint64_t, 8> processor_data();

}  // namespace hone::device::cpu
