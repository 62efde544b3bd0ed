// Demands of a program on its integers: a value must lie within the tensor that it indexes, or hone
// must not invent it.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "provider/iree/program/reached_operations.h"

namespace hone::iree {

// The demand of an access on a value: it lies within 0 .. most, or hone must not invent it.
struct Demand {
  MlirValue value;
  std::optional<double> most = {};  // nothing: not known
  std::string_view unknown = {};    // what it is, where no range would do
  std::set<int> inputs = {};        // that it may come of
};

std::vector<Demand> access_demands(const Ir& ir, const ReachedOperations& reached);

}  // namespace hone::iree
