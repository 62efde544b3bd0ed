// The GEMMs of a command line, or of a file of sizes, as dispatches to tune by Triton's kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider/list_provider.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/triton_provider.h"
#include "provider/triton/tune_gemm.h"

namespace hone::triton {

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

// Returns the GEMMs of the command line, or of the file `input`. Entries without types or bias have
// those of the command line. Input errors name the option or file, line and key. `knobs`: those of
// a user's kernel, whose result file the input may be.
Result<std::vector<GemmEntry>> gemms_of(const GemmOptions& options, const std::string& input,
                                        const std::vector<std::string>& knobs = {});

// "sizes.yaml:3: " for an entry of a file, else empty.
std::string place_of(const GemmEntry& entry, const std::string& path);

// Returns the list, with each size once. Errors: those of gemms_of(), read_user_kernel(),
// kernel_parameters() and check_parameters(). An input error for --space with a kernel, or
// --manifest without one. Its provider_for() has input errors: a CPU, types that Triton has no code
// for there, a GEMM that does not fit into the device's memory, and those of user_kernel_space().
Result<std::unique_ptr<provider::ListProvider>> listed_gemms(const GemmOptions& options,
                                                             const std::string& input);

// The GPU's kind (gemm_device), with what its driver says of this one.
Result<GemmDevice> gemm_device_of(const device::Facts& gpu);

// Program of Triton's workers (python/compile_worker.py), with sources and cache in `folder`.
Result<provider::WorkerProgram> worker_program(const TritonInstallation& installation,
                                               const std::filesystem::path& folder);

}  // namespace hone::triton
