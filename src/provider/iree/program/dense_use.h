// How the loops of an operation walk tensors that lie densely, as those of a program do before it
// is split into dispatches: operands of a statement (problem::Dispatch::statement).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "provider/iree/compiler/ir.h"

namespace hone::iree {

std::size_t loop_count(const Ir& ir, MlirAttribute map);

// {"view", "type", "offset", "strides", "dimensions", "constant"}: strides of the loops in
// elements; of each dimension its "size", what each loop adds to its index ("of_loop"), and the
// "constant" that is added; whether the tensor's value is known before the program runs. Nothing
// where a size is open or an index is no sum of loops.
std::optional<nlohmann::json> dense_use(const Ir& ir, MlirValue tensor, MlirAttribute map,
                                        int view);

// The same over the `count` loops of another operation: loop l is loop root_loop[l] of that.
nlohmann::json over_loops(nlohmann::json use, const std::vector<int>& root_loop, std::size_t count);

}  // namespace hone::iree
