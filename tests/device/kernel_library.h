// Small libraries with IREE's executable interface, compiled from C by the tests that use them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "tests/device/executable_interface.h"

namespace hone::test {

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
  EXPECT_EQ(std::system(("${CC:-cc} -O1 -w -shared -fPIC -o " + so + " " + c).c_str()), 0) << source;
  return read_file(so).value_or("");
}

}  // namespace hone::test
