// Reads and writes of a dispatch's operations, for its statement: views of bindings, and strides
// over loops.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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
std::vector<MlirAttribute> maps_of(const Ir& ir, MlirOperation operation);
// The loop of each index. NotOfThisForm if an index is not a single loop: the tensor cannot be
// followed further then.
std::vector<int> single_loops(const CApi& api, MlirAttribute map);

// Use from one thread, and only while the module does not change. All functions throw
// NotOfThisForm.
class StatementAccesses {
 public:
  // `kernel`: sizes that the kernel's launch gives.
  StatementAccesses(const Ir& ir, const Sizes& kernel) : ir_(ir), kernel_(kernel) {}

  // The place of a loaded or stored tensor in its view.
  struct Piece {
    int view = -1;  // in views()
    problem::ElementType type = problem::ElementType::kF32;
    std::int64_t offset = 0;            // elements
    std::vector<std::int64_t> strides;  // elements, by dimension of the tensor
  };
  // `access`: the operation that loads or stores `tensor`.
  Piece piece_of(MlirOperation access, MlirValue buffer, MlirValue tensor);

  // States an operand with this map: {"view", "type", "offset", "strides"}, the strides in elements
  // over the map's loops. The operand must be loaded without changes.
  nlohmann::json read(MlirValue tensor, MlirAttribute map);

  // States a table, a constant with a value for each element, in the same way. Instead of the view
  // it has {"words"}: the whole table in 32-bit words, in this machine's memory layout.
  nlohmann::json read_table(MlirValue tensor, MlirAttribute map) const;

  // All views that were accessed so far: {"binding", "offset", "words", "multiple"} (ViewPosition).
  const nlohmann::json& views() const { return views_; }

 private:
  int view_of(MlirOperation subspan);

  const Ir& ir_;
  const Sizes& kernel_;
  nlohmann::json views_ = nlohmann::json::array();
  std::map<MlirOperation, int> places_;
};

}  // namespace hone::iree
