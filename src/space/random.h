// Random numbers that are the same on every platform.
#pragma once

#include <cstdint>
#include <limits>
#include <random>

namespace hone::space {

// Uniform in [0, n), n > 0 (std::uniform_int_distribution differs between standard libraries).
inline std::uint64_t uniform_below(std::uint64_t n, std::mt19937_64& generator) {
  const std::uint64_t incomplete = (std::numeric_limits<std::uint64_t>::max() % n + 1) % n;
  for (;;) {
    const std::uint64_t drawn = generator();
    if (drawn <= std::numeric_limits<std::uint64_t>::max() - incomplete) return drawn % n;
  }
}

}  // namespace hone::space
