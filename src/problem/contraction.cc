#include "problem/contraction.h"

#include <algorithm>
#include <iterator>

namespace hone::problem {
namespace {

// Bindings as the IR states them; nullopt unless it states every operand's.
std::optional<std::vector<std::size_t>> traced_bindings(const Dispatch& dispatch) {
  if (dispatch.root_bindings.size() != dispatch.root.operands.size()) return std::nullopt;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < dispatch.root_bindings.size(); ++i) {
    const int binding = dispatch.root_bindings[i];
    if (binding < 0 || static_cast<std::size_t>(binding) >= dispatch.bindings.size())
      return std::nullopt;
    const TensorType &held = dispatch.bindings[static_cast<std::size_t>(binding)].type,
                     &wanted = dispatch.root.operands[i].type;
    if (held.element != wanted.element || element_count(held) != element_count(wanted))
      return std::nullopt;
    found.push_back(static_cast<std::size_t>(binding));
  }
  return found;
}

}  // namespace

bool is_bare(const Dispatch& dispatch) {
  return std::ranges::all_of(dispatch.fused, [](const std::string& fused) {
    return fused == "fill" || fused == "linalg.fill";
  });
}

std::optional<ExactBindings> exact_bindings(const Dispatch& dispatch) {
  if (!is_contraction(dispatch.root.kind) || !dispatch.plain_products) return std::nullopt;
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

std::optional<std::vector<std::size_t>> bindings_of_operands(const Dispatch& dispatch) {
  const auto extents = [](const TensorType& type) {
    std::vector<std::int64_t> shape;
    std::copy_if(type.shape.begin(), type.shape.end(), std::back_inserter(shape),
                 [](std::int64_t extent) { return extent != 1; });
    return shape;
  };
  const auto same = [&](const TensorType& a, const TensorType& b) {
    return a.element == b.element && extents(a) == extents(b);
  };
  if (!is_bare(dispatch)) return std::nullopt;
  if (const auto traced = traced_bindings(dispatch)) return traced;
  // A longer buffer holds the operand somewhere inside of it.
  const auto is_whole = [](const Binding& binding, const TensorType& type) {
    return binding.bytes <= byte_size(type);
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

}  // namespace hone::problem
