// A program read by IREE's compiler and split into dispatches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "problem/target.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// Flags that make iree-compile target a CPU with the local device: "host" for this machine's, a CPU
// of LLVM's for x86-64 ("x86-64-v3"), or "aarch64" and "aarch64-CPU" ("aarch64-neoverse-n1") for
// 64-bit Arm, whose triple ("aarch64-linux-gnu") means the same as "aarch64".
std::vector<std::string> cpu_flags(std::string cpu);
// Flags of "host".
std::vector<std::string> host_cpu_flags();

// Flags that make it target a GPU, which need not be there.
std::vector<std::string> gpu_flags(const problem::GpuTarget& target);

// Checks that none of the user's `flags` names another device than `target` (one of the two above).
// Dispatches are read and measured for the target. An input error that names the flag.
Status check_device_flags(const std::vector<std::string>& target,
                          const std::vector<std::string>& flags);

// Whether the flags name a GPU's device.
bool targets_gpu(const std::vector<std::string>& flags);

// IR of a program from an earlier load, or for later ones; null: neither.
struct KnownIr {
  std::string* frontend = nullptr;   // result of frontend_ir() (whole_program.h) with these flags
  std::string* converted = nullptr;  // the program after phase `input`
};

// Parses `bytes` (MLIR text or bytecode; `path` only names it in messages), compiles it up to
// separate executables and describes each dispatch. Also accepts the `*_benchmark.mlir` files of
// `iree-compile --iree-hal-dump-executable-benchmarks-to`. `flags` are iree-compile's own. `given`
// gives the sizes that the program leaves open until run time (open_sizes.h). Dispatches, functions
// and launches are described, and dispatches later compiled, for these sizes.
//
// Several functions, no dispatch, or no tunable dispatch are results, not errors. An untunable
// dispatch gives the reason in Dispatch::not_tunable. Errors: kInput with the compiler's own words
// ("file:line:column: error: ...") if it does not accept the program or a flag; kInput for a size
// that the program does not leave open, and for conflicting values of one size.
//
// Reuses what is known of the program. An empty string receives it, and stays empty if `bytes` are
// past that phase.
Result<problem::Program> load_program(const CompilerLibrary& library, const std::string& path,
                                      std::string_view bytes, const std::vector<std::string>& flags,
                                      const problem::GivenSizes& given = {},
                                      const KnownIr& known = {});

// Compiles a program as load_program() until nothing is fused yet: to the end of phase
// `preprocessing`. Returns its regions, and a dispatch for each kind of structured operation: one
// root of that kind, and a source that names the operations in it. A file past that phase has none.
// `converted` as in KnownIr. Errors: kInput, as load_program().
Result<problem::Program> load_unfused(const CompilerLibrary& library, const std::string& path,
                                      std::string_view bytes, const std::vector<std::string>& flags,
                                      std::string* converted = nullptr);

}  // namespace hone::iree
