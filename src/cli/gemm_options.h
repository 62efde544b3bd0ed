// GEMMs on the command line, as ROCm's tune_gemm.py takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "provider/triton/gemm_file.h"
#include "provider/triton/triton_provider.h"

namespace hone::cli {

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

// All of them; and without the file of results, for commands that find none.
void add_gemm_options(CLI::App& command, GemmOptions& options);
void add_gemm_list_options(CLI::App& command, GemmOptions& options);

// Whether the command line is about GEMMs: -m, a kernel of the user's, or a list of sizes (.yaml)
// as input.
bool names_gemms(const GemmOptions& options, const std::string& input);

// An input error where an option of GEMMs is given, which would mean nothing for a program. What
// the command line says only, to be asked before a configuration file, which may say what all GEMMs
// have.
Status refuse_gemm_options(const CLI::App& command);

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

}  // namespace hone::cli
