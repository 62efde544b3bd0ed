// Loops of a statement without a root (problem::Statement::Kind::kElementwise): the loop that each
// operation of a dispatch walks, and the roles and order of loops.
#pragma once

#include <map>
#include <vector>

#include "problem/statement.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Loops of the operation with the most of them, `first` among equals, and for each operation the
// loop that each of its own is. Any such mapping states the same values, if operations agree on the
// loops of a tensor they share. NotOfThisForm if they do not, or if there is no loop of that size.
class SharedLoops {
 public:
  SharedLoops(const Ir& ir, const std::vector<MlirOperation>& operations, MlirOperation first);

  // Reduced ones have the role k, others m.
  const std::vector<problem::StatedLoop>& loops() const { return loops_; }
  const std::vector<int>& of(MlirOperation operation) const { return of_.at(operation); }

 private:
  struct Own;
  // Takes over what is known of the tensors that the operation shares. Returns whether it shares
  // any.
  bool follow(const Own& own);
  // Finds loops for those of its own that walk no shared tensor.
  void complete(const Own& own);

  std::vector<problem::StatedLoop> loops_;
  std::map<MlirOperation, std::vector<int>> of_;
  std::map<MlirValue, std::vector<int>> tensors_;  // loop of each dimension; -1: none
};

// Gives a statement's loops the roles and the order that blocks of a kernel take.
// - Elementwise: n are the innermost loops of the first store that all loads and stores walk as
//   one. They are more if these are few, and the store walks them as one.
// - The loop along which a load is contiguous, if it is no n or k, becomes the innermost of m.
void arrange_loops(problem::Statement& statement);

}  // namespace hone::iree
