// Where the operations of a dispatch read and write, for its statement: views of bindings, and
// strides over loops.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

// Thrown by the functions that state a dispatch, since every step may find out that it has no words
// for what is there; state_dispatch() catches it.
struct NotOfThisForm {
  std::string reason;
};
[[noreturn]] void refuse(std::string reason);

// Coefficients of the loops, and what is added to them.
struct Linear {
  std::vector<std::int64_t> of_loop;
  std::int64_t constant = 0;
};
// The indices of one operand. Nothing where one is no sum of multiples of loops.
std::optional<std::vector<Linear>> indices(const CApi& api, MlirAttribute map);
std::vector<MlirAttribute> maps_of(const Ir& ir, MlirOperation operation);
// The loop of each index; NotOfThisForm where one is no single loop, since a tensor cannot be
// followed further then.
std::vector<int> single_loops(const CApi& api, MlirAttribute map);

// Usable by one thread, and as long as the module is not changed. All functions throw
// NotOfThisForm.
class StatementAccesses {
 public:
  // `kernel`: sizes that the kernel's launch gives.
  StatementAccesses(const Ir& ir, const Sizes& kernel) : ir_(ir), kernel_(kernel) {}

  // What a tensor that is loaded, or stored to, is of its view.
  struct Piece {
    int view = -1;  // in views()
    problem::ElementType type = problem::ElementType::kF32;
    std::int64_t offset = 0;            // elements
    std::vector<std::int64_t> strides;  // elements, by dimension of the tensor
  };
  // `access`: the operation that loads or stores `tensor`.
  Piece piece_of(MlirOperation access, MlirValue buffer, MlirValue tensor);

  // An operand with this map, which must be loaded as it is: {"view", "type", "offset", "strides"},
  // the strides in elements over the map's loops.
  nlohmann::json read(MlirValue tensor, MlirAttribute map);

  // The same of a table, a constant with a value for each element; in the place of the view
  // {"words"}, all of it in 32 bits each, as memory of this machine has them.
  nlohmann::json read_table(MlirValue tensor, MlirAttribute map) const;

  // Of all that was asked for: {"binding", "offset", "words", "multiple"} (ViewPosition).
  const nlohmann::json& views() const { return views_; }

 private:
  int view_of(MlirOperation subspan);

  const Ir& ir_;
  const Sizes& kernel_;
  nlohmann::json views_ = nlohmann::json::array();
  std::map<MlirOperation, int> places_;
};

}  // namespace hone::iree
