// Random numbers that are the same on every machine, as std::uniform_real_distribution's need not
// be.
#pragma once

#include <random>

namespace hone::search {

// In [0, 1), of the 53 bits that a double holds.
inline double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

}  // namespace hone::search
