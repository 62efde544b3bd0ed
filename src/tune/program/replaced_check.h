// Checks what files of replacing kernels do to a program. Reads the program that is compiled with
// them, since the compiler takes them by name and reports nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "provider/program_provider.h"
#include "trial/compile_service.h"

namespace hone::tune {

enum class ReplacedEffect {
  kApplied,    // the compiled program holds the file's code
  kIgnored,    // it holds other code under that name
  kUnused,     // the program has no such executable under these flags
  kMisfit,     // it was made for a kernel that is launched in another way
  kUnreadable  // no file of hone's
};
std::string_view name_of(ReplacedEffect effect);  // "applied", ...

struct CheckedKernel {
  std::filesystem::path file;
  std::string dispatch;  // whose place the file says that it takes; empty where it cannot be read
  ReplacedEffect effect = ReplacedEffect::kApplied;
  std::string note;  // why
};

struct ReplacedCheckRequest {
  std::string program_path, program_bytes;
  std::filesystem::path folder;
  std::vector<std::string> flags;  // of the compiler, without that which names the folder
};

// Returns a row for each file NAME.mlir of the folder, sorted by name. Files that do not fit are
// kept from the compile, which may crash with them. Errors: input for a folder without such files,
// and for a program that the compiler does not accept; failure if it does not compile with the
// other files.
Result<std::vector<CheckedKernel>> check_replaced(trial::CompileService& compiler,
                                                  const provider::ProgramProvider& provider,
                                                  const ReplacedCheckRequest& request);

}  // namespace hone::tune
