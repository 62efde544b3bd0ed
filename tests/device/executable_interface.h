// IREE's executable interface in C, for code that a CPU's device loads.
#pragma once

namespace hone::test {

// The C declarations of the interface (device/cpu/executable_library.h).
inline const char kInterface[] = R"(
#include <stddef.h>
#include <stdint.h>
typedef struct { uint32_t version; const char* name; uint32_t features; uint32_t sanitizer; } header_t;
typedef struct { uint32_t size_x, size_y; uint16_t size_z, constant_count; uint32_t count_x, count_y;
                 uint16_t count_z; uint8_t max_concurrency, binding_count; const uint32_t* constants;
                 void* const* bindings; const size_t* lengths; } dispatch_t;
typedef struct { uint32_t x, y; uint16_t z, reserved; uint32_t processor; void* local;
                 uint32_t local_size; } workgroup_t;
typedef int (*function_t)(const void*, const dispatch_t*, const workgroup_t*);
typedef struct { uint64_t flags; uint16_t local_pages; uint8_t constants, bindings;
                 uint32_t size_x, size_y; uint16_t size_z, parameters; uint64_t reserved[5]; } attributes_t;
typedef struct { const header_t* header; uint32_t import_count; const char* const* imports;
                 uint32_t export_count; const function_t* functions; const attributes_t* attributes;
                 const void* parameters; const void* occupancy; const char* const* names;
                 const void* tags; const void* parameter_names; const void* locations;
                 const void* stages; uint32_t constant_count; uint32_t source_count;
                 const void* sources; } library_t;
)";

}  // namespace hone::test
