// The files of ROCm's tune_gemm.py: a list of GEMM sizes in, the same list with the best
// configurations out; a result is a valid input.
//
//   - {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N', 'BLOCK_SIZE_M': 128,
//   ...} # TFLOPS: 1.0 time(us): 2.0
//
// hone's files say besides what tune_gemm's leave to the command line, where it is not fp16 alone:
// dtype_a, dtype_b, dtype_c, bias (its type), batch, tf32 (1); and those of configuration_keys().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "provider/triton/gemm.h"

namespace hone::triton {

// Keys of a kernel's knobs in a result file: tune_gemm's own ten, then hone's, in the order of a
// line. A line has hone's keys only if tune_gemm's alone would mean another kernel (STRUCTURE,
// PER_UNIT, SPLIT_STORE, MORE_N, SWAP, FIXED; see gemm_space.h).
std::vector<std::string> configuration_keys();

// Converts the workers' knobs (`knobs`; "configured" in the store) to the keys and values of a
// line. A tune_gemm key without a knob has the value that describes the kernel (on NVIDIA
// waves_per_eu 0, matrix_instr_nonkdim 0, kpack 1). Knobs without a STRUCTURE are those of a user's
// kernel, and are unchanged.
std::map<std::string, std::int64_t> keyed(const Gemm& gemm,
                                          const std::map<std::string, std::int64_t>& knobs);

// Converts a line to the workers' knobs. Without STRUCTURE the kernel is the blocked one, or
// split-K if SPLIT_K is above 1. Split-K is atomic if C has the type of the sums, else in two
// passes. Without FIXED, GROUP_M and SPLIT_K are constants of the code, as in tune_gemm's kernels.
// An input error names a missing key.
Result<std::map<std::string, std::int64_t>> knobs_of(
    const Gemm& gemm, const std::map<std::string, std::int64_t>& configuration);

struct GemmEntry {
  Gemm gemm;
  // Further keys of a result file: those of configuration_keys(), or the knobs' names for a user's
  // kernel. Empty for a size that was not tuned.
  std::map<std::string, std::int64_t> configuration;
  int line = 0;  // in the file, from 1
};

// Reads `text`. Properties that an entry does not state (types, bias) are those of `defaults`. An
// input error names `path`, the line, the key and what is allowed. Causes: no list of mappings; a
// missing size; a size that is no positive number; rowMajorA or rowMajorB other than T and N; an
// unknown key (with the nearest). `knobs`: those of a user's kernel, which are keys of its
// configurations.
Result<std::vector<GemmEntry>> read_gemms(std::string_view path, const std::string& text,
                                          const Gemm& defaults,
                                          const std::vector<std::string>& knobs = {});

// Makes a line of a result file. `seconds`: of one launch; NaN: not measured.
std::string result_line(const GemmEntry& entry, double seconds);

}  // namespace hone::triton
