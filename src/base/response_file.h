// Arguments of a command as a file: `iree-compile @flags.txt`.
#pragma once

#include <string>
#include <vector>

namespace hone {

// One argument in each line, as programs built with LLVM read them back from @FILE on Unix
// (llvm::cl::TokenizeGNUCommandLine): white space ends an argument except between quotes, and a
// backslash takes what follows as it is. An argument with neither is written plainly; of others
// only the quoted form is one argument, so that $(cat FILE) of a shell breaks them.
std::string response_file(const std::vector<std::string>& arguments);

}  // namespace hone
