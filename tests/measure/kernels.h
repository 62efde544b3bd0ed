// Dispatches, and a plain kernel for them, for tests: one loop nest in the order of the loops, one
// accumulator rounded after every addition. Nothing of it is shared with the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/verification.h"
#include "problem/dispatch.h"

namespace hone::measure {

using Bytes = std::vector<std::byte>;

inline std::size_t byte_count(const problem::TensorType& type) {
  return static_cast<std::size_t>(problem::element_count(type) * problem::byte_size(type.element));
}

inline double element(const Bytes& bytes, problem::ElementType type, std::size_t index) {
  return load_element(bytes.data() + index * static_cast<std::size_t>(problem::byte_size(type)),
                      type);
}

inline void set_element(Bytes& bytes, problem::ElementType type, std::size_t index, double value) {
  store_element(bytes.data() + index * static_cast<std::size_t>(problem::byte_size(type)), type,
                value);
}

// m, n, k loops; A (m,k), B (k,n) or, transposed, (n,k); C (m,n). Bindings in that order.
inline problem::Dispatch matmul_dispatch(std::int64_t m, std::int64_t n, std::int64_t k,
                                         problem::ElementType in, problem::ElementType out,
                                         bool transposed = false) {
  using namespace problem;
  Dispatch dispatch;
  dispatch.name = "main_dispatch_0";
  dispatch.root.kind = OperationKind::kMatmul;
  dispatch.root.name = "linalg.matmul";
  dispatch.root.loops = {
      {false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}};
  const TensorType a{in, {m, k}}, c{out, {m, n}};
  const TensorType b = transposed ? TensorType{in, {n, k}} : TensorType{in, {k, n}};
  dispatch.root.operands = {
      {a, {0, 2}, false},
      {b, transposed ? std::vector<int>{1, 2} : std::vector<int>{2, 1}, false},
      {c, {0, 1}, true}};
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, a, 0},
                       {Access::kReadOnly, BindingUse::kRootInput, b, 0},
                       {Access::kWriteOnly, BindingUse::kOutput, c, 0}};
  for (Binding& binding : dispatch.bindings)
    binding.bytes = static_cast<std::int64_t>(byte_count(binding.type));
  return dispatch;
}

// matmul + bias + gelu as IREE fuses them; the bias is binding 2, the output binding 3.
inline problem::Dispatch gelu_dispatch(std::int64_t m, std::int64_t n, std::int64_t k,
                                       problem::ElementType in = problem::ElementType::kF32,
                                       problem::ElementType out = problem::ElementType::kF32) {
  using namespace problem;
  Dispatch dispatch = matmul_dispatch(m, n, k, in, ElementType::kF32);
  dispatch.fused = {"fill",
                    "elementwise(arith.addf, arith.mulf, math.erf, arith.addf, arith.mulf, "
                    "arith.mulf)"};
  dispatch.bindings.insert(
      dispatch.bindings.begin() + 2,
      {Access::kReadOnly, BindingUse::kFusedInput, {ElementType::kF32, {n}}, 0});
  dispatch.bindings[3].type.element = out;
  return dispatch;
}

inline std::vector<Bytes> inputs_of(const problem::Dispatch& dispatch, std::uint64_t seed) {
  const InputPlan plan = plan_inputs(dispatch);
  std::vector<Bytes> buffers;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    buffers.emplace_back(byte_count(dispatch.bindings[i].type));
    fill_input(buffers.back(), dispatch.bindings[i].type.element, plan.bindings[i],
               binding_seed(seed, i));
  }
  return buffers;
}

// Of the output, on the inputs of plan_inputs.
inline Tolerance tolerance_for(const problem::Dispatch& dispatch) {
  const std::vector<Tolerance> tolerances = tolerances_for(dispatch, plan_inputs(dispatch));
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i)
    if (dispatch.bindings[i].use == problem::BindingUse::kOutput) return tolerances[i];
  return {};
}

// Which elements one iteration of the loop nest reads and writes.
inline std::size_t offset_of(const problem::Operand& operand, const std::vector<std::int64_t>& at) {
  std::size_t offset = 0;
  for (std::size_t d = 0; d < operand.loops.size(); ++d)
    offset = offset * static_cast<std::size_t>(operand.type.shape[d]) +
             static_cast<std::size_t>(at[static_cast<std::size_t>(operand.loops[d])]);
  return offset;
}

// Calls body(loop values) for every iteration; `reversed` walks every loop from its end.
inline void for_each_iteration(const problem::Operation& operation, bool reversed,
                               const std::function<void(const std::vector<std::int64_t>&)>& body) {
  std::vector<std::int64_t> counter(operation.loops.size(), 0), at(counter);
  for (;;) {
    for (std::size_t l = 0; l < at.size(); ++l)
      at[l] = reversed ? operation.loops[l].size - 1 - counter[l] : counter[l];
    body(at);
    std::size_t l = counter.size();
    while (l > 0 && ++counter[l - 1] == operation.loops[l - 1].size) counter[--l] = 0;
    if (l == 0) return;
  }
}

// The contraction, accumulated in `accumulator` (rounded to it after each addition), then stored.
inline Bytes plain_contraction(const problem::Operation& operation, const Bytes& lhs,
                               const Bytes& rhs, problem::ElementType accumulator,
                               bool reversed = false) {
  const auto &a = operation.operands[0], &b = operation.operands[1], &c = operation.operands[2];
  Bytes sums(
      static_cast<std::size_t>(problem::element_count(c.type) * problem::byte_size(accumulator)));
  for_each_iteration(operation, reversed, [&](const std::vector<std::int64_t>& at) {
    const double product = element(lhs, a.type.element, offset_of(a, at)) *
                           element(rhs, b.type.element, offset_of(b, at));
    const std::size_t to = offset_of(c, at);
    set_element(sums, accumulator, to, element(sums, accumulator, to) + product);
  });
  Bytes output(byte_count(c.type));
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem::element_count(c.type)); ++i)
    set_element(output, c.type.element, i, element(sums, accumulator, i));
  return output;
}

}  // namespace hone::measure
