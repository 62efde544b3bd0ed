// ROCm's tune_gemm.py: its files and its spaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "provider/triton/gemm.h"
#include "space/space.h"

namespace hone::triton {

// The files of ROCm's tune_gemm.py: a list of GEMM sizes in, the same list with the best
// configurations out; a result is a valid input.
//
//   - {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N', 'BLOCK_SIZE_M': 128,
//   ...} # TFLOPS: 1.0 time(us): 2.0
//
// hone's files say besides what tune_gemm's leave to the command line, where it is not fp16 alone:
// dtype_a, dtype_b, dtype_c, bias (its type), batch, tf32 (1); and those of configuration_keys().

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

// The spaces of ROCm's tune_gemm.py, for comparisons with it and for its users. Knob names
// are the compile worker's (python/structures.py); tune_gemm's files say BLOCK_SIZE_M,
// BLOCK_SIZE_N, BLOCK_SIZE_K and GROUP_SIZE_M.
//
// Both were written for AMD. On NVIDIA the kernels do not read waves_per_eu, matrix_instr_nonkdim
// and kpack: configurations that differ in these alone are equal code there (every one up to four
// times), which hone compiles from the cache and measures once. The counts stay those of tune_gemm.
struct TuneGemmLimits {
  std::int64_t lds_bytes = 65536;  // shared memory that one workgroup may have
};

// Version 3.4 (August 2024): ten knobs, 132,000 raw configurations, nine pruning rules. Rules that
// guess at speed are soft. A batch has SPLIT_K 1.
Result<space::Space> tune_gemm_space(const Gemm& gemm, const TuneGemmLimits& limits);
// The space of tune_gemm_space() before it is compiled, for solvers to compare with.
space::SpaceBuilder tune_gemm_space_builder(const Gemm& gemm, const TuneGemmLimits& limits);

// Version 2 (October 2023): blocks of 16 to 128, 14,080 raw configurations. The instruction is
// chosen by the size of the problem, SPLIT_K * BLOCK_K divides K always, and a BLOCK_K of 128
// stands beside no BLOCK_M or BLOCK_N of 128. Its num_stages 0 is what Triton calls 2 since 3.0.
Result<space::Space> tune_gemm_v2_space(const Gemm& gemm);

}  // namespace hone::triton
