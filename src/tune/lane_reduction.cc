#include "tune/lane_reduction.h"

#include <algorithm>

namespace hone::tune {
namespace {

// Returns the input with the most dimensions: vectors are loaded from it.
const problem::Operand* largest_input(const problem::Operation& root) {
  const problem::Operand* largest = nullptr;
  for (const problem::Operand& operand : root.operands)
    if (!operand.output && (largest == nullptr || operand.loops.size() > largest->loops.size()))
      largest = &operand;
  return largest;
}

bool reduces_along_rows(const problem::Operation& root) {
  const problem::Operand* const input = largest_input(root);
  if (input == nullptr || input->loops.empty() || input->loops.back() < 0) return false;
  return root.loops[static_cast<std::size_t>(input->loops.back())].reduction;
}

}  // namespace

bool reduces_along_lanes(const problem::Dispatch& dispatch) {
  const problem::Operation& root = dispatch.root;
  const bool floating = std::ranges::any_of(root.operands, [](const problem::Operand& operand) {
    return operand.output && problem::is_float(operand.type.element);
  });
  if (!floating) return false;
  if (root.kind == problem::OperationKind::kAttention || root.name == "linalg.softmax") return true;
  return (root.kind == problem::OperationKind::kReduction ||
          root.kind == problem::OperationKind::kMatvec) &&
         reduces_along_rows(root);
}

}  // namespace hone::tune
