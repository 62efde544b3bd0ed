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

// Flags that make iree-compile target this machine's CPU with the local device.
std::vector<std::string> host_cpu_flags();

// Flags that make it target a GPU, which need not be there.
std::vector<std::string> gpu_flags(const problem::GpuTarget& target);

// Whether none of the user's `flags` names another device than those of `target` (one of the two
// above): an input error that says which does. Dispatches are read, and measured, for the target.
Status check_device_flags(const std::vector<std::string>& target,
                          const std::vector<std::string>& flags);

// Whether the flags name a GPU's device.
bool targets_gpu(const std::vector<std::string>& flags);

// Parses `bytes` (MLIR text or bytecode; `path` only names it in messages), compiles it up to
// separate executables and describes each dispatch. Also accepts the `*_benchmark.mlir` files of
// `iree-compile --iree-hal-dump-executable-benchmarks-to`. `flags` are iree-compile's own. `given`
// is for what the program leaves open until run time (open_sizes.h): dispatches, functions and
// their launches are described, and dispatches later compiled, as launched with that.
//
// Several functions, no dispatch at all or none that can be tuned are results, not errors: what
// cannot be tuned says so in Dispatch::not_tunable. Errors: kInput with the compiler's own words
// ("file:line:column: error: ...") when it does not accept the program or a flag; kInput for a size
// that the program does not leave open, and for one that is given twice in different ways.
//
// `front_half`, unless null: what front_half() (whole_program.h) made of the program, which is then
// not done again. Where it is empty it is given that; it stays empty where `bytes` are past that
// phase.
Result<problem::Program> load_program(const Library& library, const std::string& path,
                                      std::string_view bytes, const std::vector<std::string>& flags,
                                      const problem::GivenSizes& given = {},
                                      std::string* front_half = nullptr);

}  // namespace hone::iree
