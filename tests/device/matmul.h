// A matmul as a dispatch.
#pragma once

#include <cstdint>

#include "problem/dispatch.h"

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

}  // namespace hone::test
