// Problems of a small matmul, and kernels for it, right and wrong, for the runner's tests.
#pragma once

#include <string>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "measure/runner.h"
#include "tests/device/kernel_library.h"
#include "tests/device/matmul.h"

namespace hone::test {

// A kernel for matmul(8, 8, 8), one row per workgroup; `after` is C code that runs at the end of
// each, with a, b, c and the row `i` at hand.
inline provider::Artifact matmul_8(const std::string& after = "") {
  return {.format = "embedded-elf-x86_64",
          .code = kernel_library(R"(
            float* a = dispatch->bindings[0]; float* b = dispatch->bindings[1];
            float* c = dispatch->bindings[2]; int i = workgroup->x;
            for (int j = 0; j < 8; ++j) {
              float sum = 0;
              for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 8 + j];
              c[i * 8 + j] = sum;
            }
            )" + after,
                                 {.bindings = 3}),
          .launch = {.entry = "kernel", .ordinal = 0, .grid = {8, 1, 1}, .constants = {}},
          .configured = ""};
}

inline measure::ProblemRequest problem_request(problem::Dispatch dispatch,
                                               std::size_t threads = 1) {
  measure::ProblemRequest request;
  request.dispatch = std::move(dispatch);
  std::vector<int>& cores = request.device.cores;
  cores = device::cpu::available_cores();
  cores.resize(std::min(cores.size(), threads));
  return request;
}

inline measure::Runner cpu_runner(measure::Libraries libraries = {}) {
  return measure::Runner({device::cpu::kind()}, std::move(libraries));
}

}  // namespace hone::test
