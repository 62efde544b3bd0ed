// Emits tuned GEMMs in forms that need no hone: a Python module of configurations, and a C header
// that launches the compiled kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/launch.h"
#include "provider/triton/tune_gemm.h"

namespace hone::triton {

struct EmittedGemm {
  GemmEntry entry;                // with its configuration
  std::optional<double> seconds;  // of one launch; none: not measured
  std::string format;             // of the code: "cuda-cubin" or "rocm-hsaco"
  problem::Launch launch;
};

// Returns a Python module that imports only Triton. lookup(m, n, k, types...) gives a
// triton.Config, configs() all of them for triton.autotune. `made`: the origin of the figures, in
// words ("NVIDIA H200 (sm_90), Triton 3.9.0").
std::string python_module(const std::vector<EmittedGemm>& gemms, std::string_view made);

// Returns a C header (C99, C++) with NAME_load, NAME_launch and NAME_unload for CUDA's or HIP's
// driver API. NAME is name_of(gemm). The i-th kernel's code is read from the file kernel_file(gemm,
// i). An input error if the launch is not one of a Triton kernel.
Result<std::string> c_launcher(const EmittedGemm& gemm, std::string_view made);

// "gemm_..._nt.0.cubin" or ".hsaco".
std::string kernel_file(const EmittedGemm& gemm, std::size_t kernel);

}  // namespace hone::triton
