#include "tune/sums.h"

#include <algorithm>

namespace hone::tune {

bool adds_along_vectors(const problem::Dispatch& dispatch) {
  const problem::Operation& root = dispatch.root;
  const bool floating =
      std::any_of(root.operands.begin(), root.operands.end(), [](const problem::Operand& operand) {
        return operand.output && problem::is_float(operand.type.element);
      });
  if (!floating) return false;
  return root.kind == problem::OperationKind::kReduction ||
         root.kind == problem::OperationKind::kAttention ||
         root.kind == problem::OperationKind::kMatvec || root.name == "linalg.softmax";
}

}  // namespace hone::tune
