// Benchmarks of dispatches that IREE wrote (--iree-hal-dump-executable-benchmarks-to), as programs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "provider/iree/spec_upgrade/mlir_text.h"

namespace hone::iree {

// The functions in the executables of a benchmark as a program: bindings that are read are its
// arguments, bindings that are written its results. Left out are configurations, which the compiler
// chooses anew, and the code of the host, which allocates and launches. nullopt: `text` has no
// hal.executable. Input error with the line: a size known only at run time, a binding that is read
// or written in parts.
Result<std::optional<std::string>> program_of_benchmark(const MlirText& text,
                                                        const std::string& path);

}  // namespace hone::iree
