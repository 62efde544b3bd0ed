// A small matmul and kernels for it, right and wrong, for the runner's tests.
#pragma once

#include <string>

#include "device/cpu/device.h"
#include "device/cpu/target.h"
#include "measure/runner.h"
#include "tests/device/kernel_library.h"

namespace hone::test {

// C[m,n] = A[m,k] B[k,n] in f32, filled with zero first.
inline problem::Dispatch matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  using namespace problem;
  const auto type = [](std::int64_t rows, std::int64_t columns) {
    return TensorType{ElementType::kF32, {rows, columns}};
  };
  Dispatch dispatch;
  dispatch.name = "main_dispatch_0_matmul";
  dispatch.root = {
      .kind = OperationKind::kMatmul,
      .name = "linalg.matmul",
      .loops = {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}},
      .operands = {
          {type(m, k), {0, 2}, false}, {type(k, n), {2, 1}, false}, {type(m, n), {0, 1}, true}}};
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, type(m, k), m * k * 4},
                       {Access::kReadOnly, BindingUse::kRootInput, type(k, n), k * n * 4},
                       {Access::kWriteOnly, BindingUse::kOutput, type(m, n), m * n * 4}};
  return dispatch;
}

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
  request.cores = device::cpu::available_cores();
  request.cores.resize(std::min(request.cores.size(), threads));
  return request;
}

inline measure::Runner cpu_runner() {
  return measure::Runner(
      [](std::span<const int> cores) { return device::cpu::open_device(cores); });
}

}  // namespace hone::test
