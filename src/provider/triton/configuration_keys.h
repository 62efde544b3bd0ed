// A kernel's knobs as a result file of tune_gemm.py spells them: its own ten keys, in its order,
// and behind them hone's, which a line has only where its kernel is not the one that tune_gemm's
// keys alone mean (STRUCTURE, PER_UNIT, SPLIT_STORE, MORE_N, SWAP, FIXED; gemm_space.h says what
// they are).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "provider/triton/gemm.h"

namespace hone::triton {

// tune_gemm's and then hone's, in the order of a line.
std::vector<std::string> configuration_keys();

// The keys and values of a line for what the compile workers are told (`knobs`; the store has them
// as "configured"). Keys of tune_gemm's that the kernel has no knob for say what it does without
// (on NVIDIA waves_per_eu 0, matrix_instr_nonkdim 0, kpack 1). Knobs without a STRUCTURE are a
// user's kernel's and stay as they are.
std::map<std::string, std::int64_t> keyed(const Gemm& gemm,
                                          const std::map<std::string, std::int64_t>& knobs);

// The way back: what to tell the compile workers for a line. Without STRUCTURE the kernel is the
// blocked one, with a SPLIT_K above 1 split-K: atomic where C is of the type of the sums, else in
// two passes. Without FIXED, GROUP_M and SPLIT_K are constants of the code, as in tune_gemm's
// kernels. An input error that names a key that is missing.
Result<std::map<std::string, std::int64_t>> knobs_of(
    const Gemm& gemm, const std::map<std::string, std::int64_t>& configuration);

}  // namespace hone::triton
