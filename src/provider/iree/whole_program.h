// Compilation of whole programs: the module that IREE's runtime loads, and the configuration that
// each dispatch got.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/jobs.h"

namespace hone::iree {

// The kind of module to compile: a user's program, the output of frontend_ir(), or a single
// dispatch at executable-sources (problem::Dispatch::source).
enum class ModuleKind { kProgram, kFrontendIr, kDispatch };

// Compiles the program to MLIR (bytecode or text) at the end of phase `stream`. The compiler reads
// tuning specs and kernels of other compilers after that phase, so the same frontend IR serves all
// of them. For SDXL's UNet it takes 33 s of 46 s of compiling; the final bytes are the same.
// `flags` and errors as in compile_program(), without the flags that name a spec or such kernels.
Result<std::string> frontend_ir(const CompilerLibrary& library, const std::string& path,
                                std::string_view bytes, const std::vector<std::string>& flags);

// Compiles to the bytes of a .vmfb. `flags` are iree-compile's own
// (--iree-codegen-tuning-spec-path, --iree-opt-data-tiling, ...). For frontend IR, pass the flags
// that it was made with and the new ones. Plain LLVM flags are set per process: use one process per
// flag set.
// Errors: kInput with the compiler's words if it does not accept the program or a flag.
Result<std::string> compile_program(const CompilerLibrary& library, const std::string& path,
                                    std::string_view bytes, const std::vector<std::string>& flags,
                                    ModuleKind kind = ModuleKind::kProgram);

// Runs the module up to executable-configurations and reads back the configuration of each
// dispatch: those of the root operation, its function and its parts (attention), each empty if it
// has none. A tuning spec took effect on a dispatch if its lowering_config is the one in the spec.
// Compare with canonical_attribute(), because the compiler prints attributes its own way.
Result<std::vector<provider::jobs::ConfiguredDispatch>> configured_dispatches(
    const CompilerLibrary& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags, ModuleKind kind = ModuleKind::kProgram);

// Returns a dispatch's source as text at executable-configurations: every operation has the
// configuration that the compiler, or a tuning spec in `flags`, gives it. iree-compile goes on from
// there (--compile-from=executable-configurations).
Result<std::string> configured_text(const CompilerLibrary& library, const std::string& name,
                                    std::string_view source, const std::vector<std::string>& flags);

// Compiles a dispatch's source to code and drops the result, to check that the configuration in
// `flags` is legal. Input error with the compiler's words if it is not; the compiler may also
// crash.
Status compile_dispatch(const CompilerLibrary& library, const std::string& name,
                        std::string_view source, const std::vector<std::string>& flags);

// The compiler's own print of an attribute's text ("#iree_cpu.lowering_config<...>"), which is
// equal for equal attributes. Input error when it does not parse.
Result<std::string> canonical_attribute(const CompilerLibrary& library, const std::string& text);

}  // namespace hone::iree
