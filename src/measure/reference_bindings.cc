#include <algorithm>
#include <iterator>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {

using problem::BindingUse;
using problem::Dispatch;
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

bool has_exact_reference(const Dispatch& dispatch) {
  const auto bindings = bindings_of_operands(dispatch);
  return problem::is_contraction(dispatch.root.kind) && dispatch.plain_products && bindings &&
         bindings->size() == 3;
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
    if (next == pool.size() || !same(dispatch.bindings[pool[next]].type, operand.type))
      return std::nullopt;
    found.push_back(pool[next++]);
  }
  return found;
}

}  // namespace hone::measure
