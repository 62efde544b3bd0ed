// Flags files: the flags of a user's own iree-compile command, converted to hone's form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::iree {

struct FileFlags {
  // "gfx942", "sm_80", a CPU as LLVM names it, "host"; empty: the file does not say.
  std::string target;
  std::vector<std::string> flags;  // that go on, under the names they have today
  // Folder of kernels that replace the compiler's, whose flag is not in `flags`; empty: none.
  std::string kernels = {};
  std::vector<std::string> notes;  // flags that were renamed or removed, and why; for people
};

// Reads a file of flags. Words are split as a POSIX shell does (quotes, backslashes, lines that
// begin with '#'). The file may contain the command and its program. Flags that name the target or
// write files (-o, dumps) are removed. Flags under a former IREE name (the SDXL scripts of 2024)
// are renamed. Input errors, with the line: an unclosed quote, contradictory targets, a GPU without
// a chip. `name`: of the file.
Result<FileFlags> read_flags_file(const std::string& name, std::string_view text);

}  // namespace hone::iree
