// The flags of somebody's own iree-compile command, as hone's compiler is told them.
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
  std::vector<std::string> notes;  // what was renamed or left out, and why; for people
};

// Reads a file of flags: words as a POSIX shell takes them apart (quotes, backslashes, lines that
// begin with '#'), the command and its program among them or not. What names the target is taken
// out of the flags, and so is what writes files (-o, dumps). Flags that IREE has had under another
// name (the SDXL scripts of 2024) are renamed. Input errors, with the line: a quote that is not
// closed, targets that contradict each other, a GPU whose chip is not said. `name`: of the file.
Result<FileFlags> read_flags_file(const std::string& name, std::string_view text);

}  // namespace hone::iree
