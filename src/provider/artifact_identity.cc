// Equality of loaded code: what is executed counts, names and paths do not.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/elf.h"
#include "base/hash.h"
#include "provider/artifact.h"
#include "provider/resources.h"

namespace hone::provider {
namespace {

// IREE keeps the exports' names and the source files' at the end of the read-only data, as
// zero-terminated strings that no kernel reads: everything from the export's name on.
std::string_view without_names(std::string_view read_only_data, std::string_view entry) {
  return entry.empty() ? read_only_data : read_only_data.substr(0, read_only_data.find(entry));
}

bool is_loaded(const ElfSection& section) {
  return section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0;
}

// Code and read-only data. Writable data holds the tables that point at names; they follow from
// the rest.
std::string cpu_code(const ElfFile& elf, std::string_view entry) {
  std::string executed;
  for (const ElfSection& section : elf.sections) {
    if (!is_loaded(section) || (section.flags & SHF_WRITE) != 0) continue;
    executed +=
        (section.flags & SHF_EXECINSTR) != 0 ? section.bytes : without_names(section.bytes, entry);
  }
  return executed;
}

// An AMD code object's read-only data holds a descriptor of 64 bytes per kernel, whose bytes 16 to
// 23 are the way from there to the code: it depends on how long names are (LLVM's AMDGPUUsage,
// "Code Object Kernel Descriptor"). Bounds have been checked where it is cut out.
std::string amd_code(const ElfFile& elf) {
  constexpr std::size_t kEntry = 16, kEntrySize = 8, kDescriptor = 64;
  std::string executed;
  for (const ElfSection& section : elf.sections) {
    if (!is_loaded(section)) continue;
    std::string bytes(section.bytes);
    const bool descriptor = (section.flags & (SHF_WRITE | SHF_EXECINSTR)) == 0;
    if (descriptor && bytes.size() >= kDescriptor) bytes.replace(kEntry, kEntrySize, kEntrySize, 0);
    executed += bytes;
  }
  return executed;
}

// PTX without comments and lines about sources; the kernel's name, which its parameters' begin
// with, becomes "kernel".
std::string ptx_code(std::string_view ptx, std::string_view entry) {
  std::string executed;
  while (!ptx.empty()) {
    std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(ptx.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    line = line.substr(0, line.find("//"));
    if (line.empty() || line.starts_with(".file") || line.starts_with(".loc")) continue;
    for (auto at = line.find(entry); !entry.empty() && at != std::string_view::npos;
         at = line.find(entry)) {
      executed += fmt::format("{}kernel", line.substr(0, at));
      line.remove_prefix(at + entry.size());
    }
    executed += fmt::format("{}\n", line);
  }
  return executed;
}

std::string executed_code(std::string_view format, std::string_view code, const Launch& launch) {
  if (format == kCudaPtx) return ptx_code(code, launch.entry);
  const auto elf = read_elf(code);
  if (!elf) return std::string(code);
  return elf->machine == EM_AMDGPU ? amd_code(*elf) : cpu_code(*elf, launch.entry);
}

std::string how_launched(const Launch& launch) {
  std::string how =
      fmt::format("|{}|{}|{}|{}", fmt::join(launch.grid, ","), fmt::join(launch.block, ","),
                  launch.shared_bytes, fmt::join(launch.constants, ","));
  if (!launch.arguments.empty())
    how += fmt::format("|{}|{}|{}", nlohmann::json(launch.arguments).dump(), launch.hidden_pointers,
                       launch.scratch_bytes);
  return how;
}

}  // namespace

std::string identity(const Artifact& artifact) {
  const std::vector<problem::KernelPart> parts =
      problem::kernels_of(artifact.launch, artifact.code);
  std::string executed;
  for (const auto& [launch, code] : parts)
    executed += executed_code(artifact.format, code, *launch);
  executed += fmt::format("|{}", artifact.format);
  for (const auto& [launch, code] : parts) executed += how_launched(*launch);
  return content_hash(executed);
}

}  // namespace hone::provider
