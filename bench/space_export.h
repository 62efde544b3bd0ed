// A space as JSON for solvers in Python: variables with their values, constraints as Python
// expressions. bench/space_baselines.py reads it.
#pragma once

#include <nlohmann/json.hpp>

#include "space/space.h"

namespace hone::space {

// Knobs have the values that propagation left; an auxiliary variable those between the constants
// that some constraint compares it with. An input error where there are no such constants.
Result<nlohmann::ordered_json> exported(const SpaceBuilder& builder);

}  // namespace hone::space
