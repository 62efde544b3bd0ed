// A code object for gfx942: an ELF file with kernels and their descriptions.
//
// Source: LLVM AMDGPUUsage, sections "Code Object", "Code Object V5 Metadata" and "Kernel
// Descriptor".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emulator/program.h"

namespace hone::emulator {

struct KernelArgument {
  std::uint32_t offset = 0;  // in the kernel arguments, bytes
  std::uint32_t size = 0;    // bytes
  std::string kind;  // ".value_kind" of the metadata: "global_buffer", "by_value", "hidden_..."
  bool is_hidden() const { return kind.starts_with("hidden_"); }
};

struct Kernel {
  std::string name;
  std::vector<KernelArgument> arguments;  // in the order of the metadata
  std::uint32_t argument_bytes = 0;
  std::uint32_t local_bytes = 0;            // LDS that the code names itself
  std::uint32_t private_bytes = 0;          // of each lane
  std::uint32_t most_threads = 1024;        // of a workgroup
  std::uint32_t vector_registers = 0;       // v registers
  std::uint32_t accumulator_registers = 0;  // a registers
  std::uint32_t scalar_registers = 0;

  std::uint64_t entry =
      0;  // address in the code object; behind the prologue for firmware without preload
  std::uint32_t user_scalars = 0;     // registers that are set before the workgroup's numbers
  std::uint32_t preload_dwords = 0;   // of the arguments, behind their pointer
  std::uint32_t preload_offset = 0;   // dwords
  bool has_dispatch_pointer = false;  // pairs of registers in front of the arguments' pointer
  bool has_queue_pointer = false;
  bool has_argument_pointer = false;
  bool has_dispatch_id = false;
  bool has_private_size = false;
  bool group_numbers[3] = {true, false, false};  // x, y, z in registers
  std::uint32_t mode = 0;                        // MODE at the start, as s_getreg reads it
};

struct Symbol {
  std::uint64_t address = 0;  // in the code object
  std::uint64_t bytes = 0;
};

// The kernels of a file and its segments in memory, relocated to where they are. Threads may share
// it.
class CodeObject {
 public:
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Kernel* kernel(std::string_view name) const;

  // The segments as the device sees them: code, constants and variables.
  std::span<std::byte> image() const { return {image_.get(), image_bytes_}; }
  // The host address of address 0 of the code object.
  std::uint64_t base() const { return reinterpret_cast<std::uintptr_t>(image_.get()); }

  // A variable of the file by name; nullopt if there is none.
  std::optional<Symbol> variable(std::string_view name) const;

  const Program& program() const { return *program_; }

 private:
  friend Result<CodeObject> read_code_object(std::span<const std::byte> file,
                                             std::string_view disassembly);

  std::vector<Kernel> kernels_;
  std::map<std::string, Symbol, std::less<>> variables_;
  std::shared_ptr<std::byte> image_;
  std::size_t image_bytes_ = 0;
  std::unique_ptr<Program> program_;
};

// Reads a code object and decodes its instructions (disassemble()). Input errors say what is wrong
// with the file: not an ELF file, another target, metadata or relocations that hone does not know.
// Environment errors: the disassembler is missing.
Result<CodeObject> read_code_object(std::span<const std::byte> file);
// The same for callers who have the text of disassemble().
Result<CodeObject> read_code_object(std::span<const std::byte> file, std::string_view disassembly);

// The file's size in bytes by its headers: for callers that have only a pointer. 0 if it is no ELF
// file.
std::size_t code_object_bytes(const void* file);

// Whether the file is for gfx942.
bool is_gfx942(std::span<const std::byte> file);

// The text of the code by llvm-objdump-19. Errors as check_disassembler(); a failure in its words.
Result<std::string> disassemble(std::span<const std::byte> file);
// An environment error with the command that installs llvm-objdump-19, if it is not on PATH.
Status check_disassembler();

}  // namespace hone::emulator
