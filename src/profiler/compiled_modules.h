// Modules of a tree, for IREE's own tools. An operation has two files with all its dispatches that
// compile: one to verify, and one to profile, in which each call launches a kernel many times.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profiler/dispatch_choice.h"
#include "trial/compile_service.h"

namespace hone::profiler {

struct ModuleOptions {
  std::filesystem::path generated_dir = ".";
  std::vector<std::string> flags;  // for the compiler, its target among them
  std::string compiler;            // its own name for itself: another one's modules are made anew
  int batch_size = 100;            // launches of a call of the profile module
  bool force = false;              // what is up to date too
  std::size_t jobs = 1;            // operations that are compiled side by side
};

// Result of compiling an operation.
struct ModuleRow {
  NamedOperation operation;
  bool was_up_to_date = false;
  std::size_t dispatches = 0;             // in its modules
  std::vector<SkippedDispatch> left_out;  // reasons in the compiler's words
};

// Compiles each operation into OPERATION_verify.vmfb and OPERATION_profile.vmfb. Writes the
// commands, the skipped dispatches and the reasons to iree_compile_cmd_stdout.mlir. Both modules
// skip a dispatch that does not compile. Complete modules of the same text, flags and compiler are
// not compiled again. Each file is written to the side and renamed. Calls `row` for each operation,
// in order. Errors: the user stopped it, a file cannot be read or written.
Status compile_modules(trial::CompileService& compiler, const ModuleOptions& options,
                       std::span<const SelectedOperation> operations,
                       const std::function<Status(const ModuleRow&)>& row);

}  // namespace hone::profiler
