// Files that put another provider's kernels in the place of the compiler's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/launch.h"

namespace hone::provider {

// A file that makes the compiler use another provider's kernel instead of generating its own.
struct ReplacedExecutable {
  std::string executable;  // the symbol of the dispatch's (problem::Dispatch::executable)
  std::string text;        // of the file, which must be called `executable` + ".mlir"

  bool operator==(const ReplacedExecutable&) const = default;
};

// Content of a file that KernelReplacer::replaced() has written.
struct ReplacingKernel {
  std::string dispatch;  // whose kernel's place it takes
  std::string launch;  // which bindings and constants it is launched with, as the compiler says it
  std::string code;
};

class KernelReplacer {
 public:
  virtual ~KernelReplacer() = default;

  // Replaces the dispatch's own kernel by `code`, which has the form and the launch convention of
  // the compiler's kernels. Fails if its programs cannot hold such a kernel.
  virtual Result<ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                              const std::string& code,
                                              const problem::Launch& launch) const = 0;
  // Reads a file that replaced() has written. Returns an input error for any other file.
  virtual Result<ReplacingKernel> read_replaced(const std::string& text) const = 0;
  // Launch of the dispatch in the form of ReplacingKernel::launch; empty if the dispatch does not
  // state it.
  virtual std::string launch_of(const problem::Dispatch& dispatch) const = 0;
  // Adds flags that make the compiler use the files of `folder`.
  virtual std::vector<std::string> with_replaced(std::vector<std::string> flags,
                                                 const std::filesystem::path& folder) const = 0;
};

}  // namespace hone::provider
