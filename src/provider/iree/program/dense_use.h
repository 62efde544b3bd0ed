// Accesses of an operation's loops to dense tensors, the form before a program is split into
// dispatches: operands of a statement (problem::Dispatch::statement).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "provider/iree/compiler/ir.h"

namespace hone::iree {

std::size_t loop_count(const Ir& ir, MlirAttribute map);

// Returns {"view", "type", "offset", "strides", "dimensions", "constant"}. "strides" are those of
// the loops, in elements. Each dimension has its "size", each loop's contribution to its index
// ("of_loop"), and an added "constant". The last field tells whether the tensor's value is known
// before the program runs. Nothing if a size is open or an index is not a sum of loops.
std::optional<nlohmann::json> dense_use(const Ir& ir, MlirValue tensor, MlirAttribute map,
                                        int view);

// Converts a use to the `count` loops of another operation: loop l is its loop root_loop[l].
nlohmann::json over_loops(nlohmann::json use, const std::vector<int>& root_loop, std::size_t count);

}  // namespace hone::iree
