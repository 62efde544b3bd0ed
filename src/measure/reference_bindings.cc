#include <algorithm>
#include <iterator>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {

using problem::BindingUse;
using problem::Dispatch;
using problem::ElementType;
using problem::Operand;

namespace {

// As the IR says; nothing when it does not say it of every operand.
std::optional<std::vector<std::size_t>> traced_bindings(const Dispatch& dispatch) {
  if (dispatch.root_bindings.size() != dispatch.root.operands.size()) return std::nullopt;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < dispatch.root_bindings.size(); ++i) {
    const int binding = dispatch.root_bindings[i];
    if (binding < 0 || static_cast<std::size_t>(binding) >= dispatch.bindings.size())
      return std::nullopt;
    const problem::TensorType &held = dispatch.bindings[static_cast<std::size_t>(binding)].type,
                              &wanted = dispatch.root.operands[i].type;
    if (held.element != wanted.element ||
        problem::element_count(held) != problem::element_count(wanted))
      return std::nullopt;
    found.push_back(static_cast<std::size_t>(binding));
  }
  return found;
}

}  // namespace

bool is_bare(const Dispatch& dispatch) {
  return std::all_of(dispatch.fused.begin(), dispatch.fused.end(), [](const std::string& fused) {
    return fused == "fill" || fused == "linalg.fill";
  });
}

std::optional<ExactBindings> exact_bindings(const Dispatch& dispatch) {
  if (!problem::is_contraction(dispatch.root.kind) || !dispatch.plain_products) return std::nullopt;
  if (const auto bare = bindings_of_operands(dispatch)) {
    if (bare->size() != 3) return std::nullopt;
    return ExactBindings{(*bare)[0], (*bare)[1], (*bare)[2], std::nullopt, false};
  }
  if (!dispatch.plain_epilogue || dispatch.root_bindings.size() != 3) return std::nullopt;
  ExactBindings found{static_cast<std::size_t>(dispatch.root_bindings[0]),
                      static_cast<std::size_t>(dispatch.root_bindings[1]), 0, std::nullopt, false};
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].use == BindingUse::kOutput) found.output = i;
    if (dispatch.bindings[i].use == BindingUse::kFusedInput) found.bias = i;
  }
  found.narrows =
      dispatch.bindings[found.output].type.element != dispatch.root.operands.back().type.element;
  return found;
}

bool has_exact_reference(const Dispatch& dispatch) {
  return exact_bindings(dispatch).has_value();
}

std::vector<std::byte> finish_output(const Dispatch& dispatch, const ExactBindings& bindings,
                                     std::vector<std::byte> sums, std::span<const std::byte> bias) {
  if (!bindings.bias && !bindings.narrows) return sums;
  const Operand& root = dispatch.root.operands.back();
  const problem::TensorType& type = dispatch.bindings[bindings.output].type;
  const auto from = static_cast<std::size_t>(problem::byte_size(root.type.element));
  const auto to = static_cast<std::size_t>(problem::byte_size(type.element));
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
    const auto size = static_cast<std::size_t>(problem::byte_size(element));
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
  const auto size = static_cast<std::size_t>(problem::byte_size(output.type.element));
  std::vector<std::byte> filled(static_cast<std::size_t>(problem::element_count(output.type)) *
                                size);
  for (std::size_t at = 0; at < filled.size(); at += size)
    store_element(filled.data() + at, output.type.element, dispatch.fill_value);
  return filled;
}

std::optional<std::vector<std::size_t>> bindings_of_operands(const Dispatch& dispatch) {
  const auto extents = [](const problem::TensorType& type) {
    std::vector<std::int64_t> shape;
    std::copy_if(type.shape.begin(), type.shape.end(), std::back_inserter(shape),
                 [](std::int64_t extent) { return extent != 1; });
    return shape;
  };
  const auto same = [&](const problem::TensorType& a, const problem::TensorType& b) {
    return a.element == b.element && extents(a) == extents(b);
  };
  if (!is_bare(dispatch)) return std::nullopt;
  if (const auto traced = traced_bindings(dispatch)) return traced;
  // A longer buffer holds the operand somewhere inside of it.
  const auto is_whole = [](const problem::Binding& binding, const problem::TensorType& type) {
    return binding.bytes <= problem::element_count(type) * problem::byte_size(type.element);
  };
  std::vector<std::size_t> inputs, outputs, found;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].use == BindingUse::kRootInput) inputs.push_back(i);
    if (dispatch.bindings[i].use == BindingUse::kOutput) outputs.push_back(i);
  }
  if (inputs.size() + outputs.size() != dispatch.root.operands.size()) return std::nullopt;
  std::size_t input = 0, output = 0;
  for (const Operand& operand : dispatch.root.operands) {
    std::vector<std::size_t>& pool = operand.output ? outputs : inputs;
    std::size_t& next = operand.output ? output : input;
    if (next == pool.size() || !same(dispatch.bindings[pool[next]].type, operand.type) ||
        !is_whole(dispatch.bindings[pool[next]], operand.type))
      return std::nullopt;
    found.push_back(pool[next++]);
  }
  return found;
}

}  // namespace hone::measure
