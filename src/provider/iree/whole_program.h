// Whole programs: the module that IREE's runtime loads, and proof of what configured it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/configuration.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// What is compiled: a program as its user has it, one as front_half() leaves it, or one dispatch of
// it as it is at executable-sources (problem::Dispatch::source).
enum class ModuleKind { kProgram, kFrontHalf, kDispatch };

// The program as MLIR (bytecode or text) at the end of phase `stream`: what tuning specs and
// kernels of others say is read after it, so one serves all of them (of SDXL's UNet it is 33 s of
// 46 s of compiling; what comes out in the end is the same bytes). `flags` and errors as of
// compile_program(), without what names a spec or such kernels.
Result<std::string> front_half(const Library& library, const std::string& path,
                               std::string_view bytes, const std::vector<std::string>& flags);

// Compiles to the bytes of a .vmfb. `flags` are iree-compile's own
// (--iree-codegen-tuning-spec-path,
// --iree-opt-data-tiling, ...); of a front half, those that it was made with and what is added now.
// Plain LLVM flags are set per process: use one process per flag set.
// Errors: kInput with the compiler's words when it does not accept the program or a flag.
Result<std::string> compile_program(const Library& library, const std::string& path,
                                    std::string_view bytes, const std::vector<std::string>& flags,
                                    ModuleKind kind = ModuleKind::kProgram);

// A dispatch's root operation as a compile with `flags` configured it.
struct ConfiguredDispatch {
  std::string executable;  // symbol: "main_dispatch_0"
  std::string name;        // export's symbol
  std::string root;        // the compiler's name of the root operation; empty when none
  // The configurations of the root operation, its function and its parts (attention); each is empty
  // if it has none.
  Attributes attributes;
  std::vector<int> marks;  // entries of a spec that match in it (spec/reader.h)
};

// Runs the module up to executable-configurations and reads back what each dispatch got. A tuning
// spec is applied to a dispatch when its lowering_config is the one the spec gives: compare with
// canonical_attribute(), since the compiler prints attributes its own way.
Result<std::vector<ConfiguredDispatch>> configured_dispatches(
    const Library& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags, ModuleKind kind = ModuleKind::kProgram);

// Compiles a dispatch's source to code and drops it: whether what `flags` configure is legal. Input
// error with the compiler's words when it is not; it may also crash.
Status compile_dispatch(const Library& library, const std::string& name, std::string_view source,
                        const std::vector<std::string>& flags);

// The compiler's own print of an attribute's text ("#iree_cpu.lowering_config<...>"), which is
// equal for equal attributes. Input error when it does not parse.
Result<std::string> canonical_attribute(const Library& library, const std::string& text);

}  // namespace hone::iree
