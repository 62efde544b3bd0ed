// Small libraries with IREE's executable interface, compiled from C by the tests that use them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

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

struct LibraryOptions {
  int version = 6;
  int local_pages = 0;
  int constants = 0;
  int bindings = 1;
  std::string imports = {};  // C string literals, each followed by a comma
  int executable_constants = 0;
};

// The bytes of a shared object whose one export, "kernel", runs `body`, C code that sees dispatch,
// workgroup and environment. A failing compiler fails the test.
inline std::string kernel_library(const std::string& body, const LibraryOptions& options = {}) {
  const auto folder = TemporaryFolder::create("hone-kernel-");
  if (!folder) {
    ADD_FAILURE() << folder.error().message;
    return {};
  }
  const std::string tables = fmt::format(
      R"(
static const header_t header = {{{}, "test", 0, 0}};
static const char* const imports[] = {{{} 0}};
static const function_t functions[] = {{kernel}};
static const attributes_t attributes[] = {{{{0, {}, {}, {}, 1, 1, 1, 0, {{0}}}}}};
static const char* const names[] = {{"kernel"}};
static const library_t library = {{&header, sizeof(imports) / sizeof(imports[0]) - 1, imports, 1,
  functions, attributes, 0, 0, names, 0, 0, 0, 0, {}, 0, 0}};
const void* iree_hal_executable_library_query(uint32_t version, const void* environment) {{
  return version == {} ? (const void*)&library : 0;
}}
)",
      options.version, options.imports, options.local_pages, options.constants, options.bindings,
      options.executable_constants, options.version);
  const std::string source =
      std::string(kInterface) +
      "static int kernel(const void* environment, const dispatch_t* dispatch, const workgroup_t* "
      "workgroup) {\n" +
      body + "\nreturn 0;\n}\n" + tables;
  const auto c = (folder->path() / "kernel.c").string(),
             so = (folder->path() / "kernel.so").string();
  EXPECT_TRUE(write_file_atomically(c, source));
  EXPECT_EQ(std::system(("cc -O1 -w -shared -fPIC -o " + so + " " + c).c_str()), 0) << source;
  return read_file(so).value_or("");
}

}  // namespace hone::test
