// What was found for a GEMM, in forms that are used without hone: a Python module of
// configurations, and a C header that launches the compiled kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/launch.h"
#include "provider/triton/gemm_file.h"

namespace hone::triton {

struct EmittedGemm {
  GemmEntry entry;                // with its configuration
  std::optional<double> seconds;  // of one launch; none: not measured
  std::string format;             // of the code: "cuda-cubin" or "rocm-hsaco"
  problem::Launch launch;
};

// A Python module that imports Triton and nothing else: lookup(m, n, k, types...) gives a
// triton.Config, configs() those for triton.autotune. `made`: where the figures come from, in words
// ("NVIDIA H200 (sm_90), Triton 3.9.0").
std::string python_module(const std::vector<EmittedGemm>& gemms, std::string_view made);

// A C header (C99, C++) with NAME_load, NAME_launch and NAME_unload by CUDA's or HIP's driver API,
// where NAME is name_of(gemm). The i-th kernel's code is read from a file of kernel_file(gemm, i).
// An input error where the launch is none of a Triton kernel.
Result<std::string> c_launcher(const EmittedGemm& gemm, std::string_view made);

// "gemm_..._nt.0.cubin" or ".hsaco".
std::string kernel_file(const EmittedGemm& gemm, std::size_t kernel);

}  // namespace hone::triton
