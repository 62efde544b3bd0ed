// Floating-point numbers that are not finite.
#pragma once

#include <limits>

namespace hone::measure {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace hone::measure
