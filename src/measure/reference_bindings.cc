#include <algorithm>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {

using problem::Dispatch;
using problem::ElementType;
using problem::Operand;

bool has_exact_reference(const Dispatch& dispatch) {
  return exact_bindings(dispatch).has_value();
}

std::vector<std::byte> finish_output(const Dispatch& dispatch, const ExactBindings& bindings,
                                     std::vector<std::byte> sums, std::span<const std::byte> bias) {
  if (!bindings.bias && !bindings.narrows) return sums;
  const Operand& root = dispatch.root.operands.back();
  const problem::TensorType& type = dispatch.bindings[bindings.output].type;
  const auto from = problem::element_bytes(root.type.element);
  const auto to = problem::element_bytes(type.element);
  // Elements from one index of the n loop to the next, and how many there are.
  std::size_t stride = 1, extent = 1;
  for (std::size_t d = root.loops.size(); d-- > 0;) {
    extent = static_cast<std::size_t>(root.type.shape[d]);
    const auto loop = static_cast<std::size_t>(root.loops[d]);
    if (dispatch.root.loops[loop].role == problem::LoopRole::kN) break;
    stride *= extent;
  }
  const std::size_t count = sums.size() / from;
  std::vector<std::byte> output(count * to);
  std::vector<double> added(bindings.bias ? extent : 0);
  if (bindings.bias) {
    const ElementType element = dispatch.bindings[*bindings.bias].type.element;
    const auto size = problem::element_bytes(element);
    for (std::size_t n = 0; n < extent; ++n)
      added[n] = load_element(bias.data() + n * size, element);
  }
  for (std::size_t i = 0; i < count; ++i) {
    double value = load_element(sums.data() + i * from, root.type.element);
    if (bindings.bias) {
      store_element(sums.data() + i * from, root.type.element, value + added[i / stride % extent]);
      value = load_element(sums.data() + i * from, root.type.element);
    }
    store_element(output.data() + i * to, type.element, value);
  }
  return output;
}

std::vector<std::byte> initial_output(const Dispatch& dispatch, std::span<const std::byte> before) {
  const Operand& output = dispatch.root.operands.back();
  if (dispatch.fused.empty()) return {before.begin(), before.end()};
  if (dispatch.fill_value == 0) return {};
  const auto size = problem::element_bytes(output.type.element);
  std::vector<std::byte> filled(static_cast<std::size_t>(problem::element_count(output.type)) *
                                size);
  for (std::size_t at = 0; at < filled.size(); at += size)
    store_element(filled.data() + at, output.type.element, dispatch.fill_value);
  return filled;
}

}  // namespace hone::measure
