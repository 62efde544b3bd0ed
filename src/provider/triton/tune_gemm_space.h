// The spaces of ROCm's tune_gemm.py, for comparing with it and for who is used to it. Knob names
// are the compile worker's (python/structures.py); tune_gemm's files say BLOCK_SIZE_M,
// BLOCK_SIZE_N, BLOCK_SIZE_K and GROUP_SIZE_M.
//
// Both were written for AMD. On NVIDIA the kernels do not read waves_per_eu, matrix_instr_nonkdim
// and kpack: configurations that differ in these alone are equal code there (every one up to four
// times), which hone compiles from the cache and measures once. The counts stay those of tune_gemm.
#pragma once

#include "provider/triton/gemm.h"
#include "space/space.h"

namespace hone::triton {

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
