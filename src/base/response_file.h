// Arguments of a command as a file: `iree-compile @flags.txt`.
#pragma once

#include <string>
#include <vector>

namespace hone {

// Writes each argument on a line, in the form that programs built with LLVM read from @FILE on Unix
// (llvm::cl::TokenizeGNUCommandLine). There, white space ends an argument except between quotes,
// and a backslash escapes the next character. An argument with neither is written plainly. All
// others are quoted, so a shell's $(cat FILE) breaks them.
std::string response_file(const std::vector<std::string>& arguments);

}  // namespace hone
