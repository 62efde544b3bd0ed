// The GEMMs of a command line as dispatches to tune.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider/triton/gemm_device.h"
#include "provider/triton/gemm_file.h"
#include "provider/triton/triton_provider.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::session {

struct GemmOptions {
  std::optional<std::int64_t> m, n, k;  // one GEMM, instead of a file
  std::int64_t batch = 1;
  bool col_a = false, col_b = false;
  std::string dtype_a = "fp16", dtype_b = "fp16", dtype_c = "fp16";
  bool bias = false;
  bool tf32 = false;
  std::string space = "own";
  std::string results;   // file; empty: gemms.yaml in the folder of --out
  std::string triton;    // where Triton is; empty: looked for
  std::string kernel;    // Python file of a user's own kernel; empty: hone's kernels
  std::string manifest;  // its manifest; empty: beside it, with .yaml
};

// Whether the command line is about GEMMs: -m, a kernel of the user's, or a list of sizes (.yaml)
// as input.
bool names_gemms(const GemmOptions& options, const std::string& input);

// The GEMMs of the command line, or of the file `input`; the command line's types and bias are
// those of entries that do not say theirs. Input errors name the option or file, line and key.
// `knobs`: those of a user's kernel, whose result file the input may be.
Result<std::vector<triton::GemmEntry>> gemms_of(const GemmOptions& options,
                                                const std::string& input,
                                                const std::vector<std::string>& knobs = {});

triton::SpaceKind space_kind(const GemmOptions& options);

// The user's own kernel, checked as far as it can be without compiling it; nothing where none is
// given. Input errors: those of read_user_kernel, kernel_parameters and check_parameters; --space
// or --manifest beside it or without it.
Result<std::shared_ptr<const triton::UserKernel>> user_kernel(const GemmOptions& options);

struct Gemms {
  tune::DispatchList list;
  std::map<std::string, triton::GemmEntry> entries;  // by dispatch name
  std::shared_ptr<const triton::UserKernel> kernel;  // a user's own; none: hone's
};

// Each size once. Errors as gemms_of() and user_kernel().
Result<Gemms> read_gemms(const GemmOptions& options, const std::string& input);

// "sizes.yaml:3: " for an entry of a file, else empty.
std::string place_of(const triton::GemmEntry& entry, const std::string& path);

// An input error, which begins with the entry's place, where the GPU `name` of `memory_bytes`
// cannot hold what measuring the GEMM takes, or Triton has no code for its types on `device`.
Status check_fits(const triton::GemmEntry& entry, const std::string& path, const std::string& name,
                  std::int64_t memory_bytes, const triton::GemmDevice& device);

// Whether the user's manifest fits a size; where there is no `kernel`, everything does. An input
// error of user_kernel_space().
Status check_kernel(const triton::UserKernel* kernel, const triton::GemmEntry& entry,
                    const triton::GemmDevice& device);

}  // namespace hone::session
