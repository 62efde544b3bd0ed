// hone's own declarations of the interface between IREE's runtime and compiled CPU code, version
// 0.6. Source: iree-org/iree, runtime/src/iree/hal/local/executable_library.h at b48a595 (main,
// August 2026; release 3.13 answers to the same version). Layouts are fixed by that version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::device::cpu::abi {

inline constexpr std::uint32_t kVersion = 6;
inline constexpr char kQueryName[] = "iree_hal_executable_library_query";
inline constexpr std::uint32_t kLocalMemoryPageSize = 4096;
inline constexpr int kMaxConstants = 64;
inline constexpr int kMaxBindings = 64;

struct LibraryHeader {
  std::uint32_t version;
  const char* name;
  std::uint32_t features;
  std::uint32_t sanitizer;  // 0: none
};

using ImportFunction = int (*)(void* parameters, void* context, void* reserved);
using ImportThunk = int (*)(ImportFunction function, void* parameters, void* context,
                            void* reserved);

struct ImportTable {
  std::uint32_t count;
  const char* const* symbols;
};

struct ProcessorWords {
  std::uint64_t data[8];
};

struct Environment {
  const std::uint32_t* constants;
  ImportThunk import_thunk;
  const ImportFunction* import_functions;
  const void** import_contexts;
  ProcessorWords processor;
};

struct DispatchState {
  std::uint32_t workgroup_size_x;
  std::uint32_t workgroup_size_y;
  std::uint16_t workgroup_size_z;
  std::uint16_t constant_count;
  std::uint32_t workgroup_count_x;
  std::uint32_t workgroup_count_y;
  std::uint16_t workgroup_count_z;
  std::uint8_t max_concurrency;
  std::uint8_t binding_count;
  const std::uint32_t* constants;
  void* const* binding_pointers;
  const std::size_t* binding_lengths;
};
static_assert(sizeof(DispatchState) == 48);

struct WorkgroupState {
  std::uint32_t workgroup_id_x;
  std::uint32_t workgroup_id_y;
  std::uint16_t workgroup_id_z;
  std::uint16_t reserved;
  std::uint32_t processor_id;
  void* local_memory;
  std::uint32_t local_memory_size;
};
static_assert(sizeof(WorkgroupState) == 32);

using DispatchFunction = int (*)(const Environment*, const DispatchState*, const WorkgroupState*);

inline constexpr std::uint64_t kDispatchSequential = 1;
inline constexpr std::uint64_t kDispatchWorkgroupSizeDynamic = 2;

struct DispatchAttributes {
  std::uint64_t flags;
  std::uint16_t local_memory_pages;
  std::uint8_t constant_count;
  std::uint8_t binding_count;
  std::uint32_t workgroup_size_x;
  std::uint32_t workgroup_size_y;
  std::uint16_t workgroup_size_z;
  std::uint16_t parameter_count;
  std::uint64_t reserved[5];
};
static_assert(sizeof(DispatchAttributes) == 64);

struct ExportTable {
  std::uint32_t count;
  const DispatchFunction* functions;
  const DispatchAttributes* attributes;
  const void* const* parameters;
  const void* occupancy;
  const char* const* names;
  const char* const* tags;
  const char* const* parameter_names;
  const void* source_locations;
  const void* stage_locations;
};

struct ConstantTable {
  std::uint32_t count;
};

struct SourceFileTable {
  std::uint32_t count;
  const void* files;
};

struct LibraryDescription {
  const LibraryHeader* header;
  ImportTable imports;
  ExportTable exports;
  ConstantTable constants;
  SourceFileTable sources;
};

using QueryFunction = const LibraryHeader** (*)(std::uint32_t max_version, const Environment*);

}  // namespace hone::device::cpu::abi
