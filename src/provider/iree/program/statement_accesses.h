// Reads and writes of operations, for statements (problem::Statement): strides over loops, of views
// of a dispatch's bindings or of whole tensors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problem/statement.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// Thrown by the functions that state a dispatch when its form has no statement, which any step may
// find out. state_dispatch() catches it.
struct NotOfThisForm {
  std::string reason;
};
[[noreturn]] void refuse(std::string reason);

// Coefficients of the loops, and what is added to them.
struct Linear {
  std::vector<std::int64_t> of_loop;
  std::int64_t constant = 0;
};
// The indices of one operand. Nothing if an index is not a sum of multiples of loops.
std::optional<std::vector<Linear>> indices(const CApi& api, MlirAttribute map);
// Number of loops of an operand's map.
std::size_t loop_count(const Ir& ir, MlirAttribute map);
std::vector<MlirAttribute> maps_of(const Ir& ir, MlirOperation operation);
// The loop of each index. NotOfThisForm if an index is not a single loop: the tensor cannot be
// followed further then.
std::vector<int> single_loops(const CApi& api, MlirAttribute map);

// Role of a loop in a product of these operands.
problem::LoopRole contraction_role(const problem::StatedUse& lhs, const problem::StatedUse& rhs,
                                   std::size_t loop, bool reduction);

// Use from one thread, and only while the module does not change. All functions throw
// NotOfThisForm.
class StatementAccesses {
 public:
  // `kernel`: sizes that the kernel's launch gives.
  StatementAccesses(const Ir& ir, const Sizes& kernel) : ir_(ir), kernel_(kernel) {}

  // The place of a loaded or stored tensor in its view.
  struct Piece {
    std::size_t view = 0;  // in views()
    problem::ElementType type = problem::ElementType::kF32;
    std::int64_t offset = 0;            // elements
    std::vector<std::int64_t> strides;  // elements, by dimension of the tensor
  };
  // `access`: the operation that loads or stores `tensor`.
  Piece piece_of(MlirOperation access, MlirValue buffer, MlirValue tensor);

  // States an operand with this map, over the map's loops. The operand must be loaded without
  // changes.
  problem::StatedUse read(MlirValue tensor, MlirAttribute map);

  // The same of all elements of a tensor, over its dimensions.
  problem::StatedUse read_whole(MlirValue tensor);

  // States a table, a constant with a value for each element, in the same way. It has no view, but
  // its words.
  problem::StatedValue read_table(MlirValue tensor, MlirAttribute map) const;

  // All views that were accessed so far (ViewPosition).
  const std::vector<problem::StatedView>& views() const { return views_; }

 private:
  std::size_t view_of(MlirOperation subspan);
  Piece loaded_piece(MlirValue tensor);

  const Ir& ir_;
  const Sizes& kernel_;
  std::vector<problem::StatedView> views_;
  std::map<MlirOperation, std::size_t> places_;
};

// A piece's elements by its indices over `loops` loops.
problem::StatedUse access(const StatementAccesses::Piece& piece, const std::vector<Linear>& indices,
                          std::size_t loops);

// Returns the use of a dense tensor, the form before a program is split into dispatches, as `view`
// with its dimensions. Nothing if a size is open or an index is not a sum of loops.
std::optional<problem::StatedUse> dense_use(const Ir& ir, MlirValue tensor, MlirAttribute map,
                                            std::size_t view);

// Converts a use to the `count` loops of another operation: loop l is its loop root_loop[l].
problem::StatedUse over_loops(problem::StatedUse use, const std::vector<int>& root_loop,
                              std::size_t count);

}  // namespace hone::iree
