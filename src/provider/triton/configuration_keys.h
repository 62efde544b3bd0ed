// Spelling of a kernel's knobs in a result file of tune_gemm.py: its own ten keys, in its order,
// then hone's. A line has hone's keys only if tune_gemm's keys alone would mean another kernel
// (STRUCTURE, PER_UNIT, SPLIT_STORE, MORE_N, SWAP, FIXED; see gemm_space.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "provider/triton/gemm.h"

namespace hone::triton {

// Keys of tune_gemm, then hone's, in the order of a line.
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

}  // namespace hone::triton
