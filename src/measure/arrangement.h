// Places the buffers of a dispatch's bindings in memory, with room for guards around them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "problem/dispatch.h"

namespace hone::measure {

// Place of a binding in a copy of the buffers: guard, buffer, guard. In bytes from the copy's
// start.
struct Place {
  std::size_t before = 0;  // of the guard before the buffer
  std::size_t start = 0;   // of the buffer
  std::size_t bytes = 0;   // of the buffer
  std::size_t end = 0;     // of the guard behind it
};

// Arranges the bindings. Each begins on a page (its guard before it) and ends with a guard up to a
// page's end. Views of one binding of the kernel keep their distance, and use the gaps between them
// for guards.
struct Arrangement {
  static constexpr std::size_t kPage = 4096;

  // Every binding has a static size, and no two overlap.
  explicit Arrangement(const std::vector<problem::Binding>& bindings);

  std::vector<Place> places;  // by binding
  std::size_t bytes = 0;      // of a copy
  // Used parts of a copy, in order (begin, end): two views may lie gigabytes apart.
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
};

// Whether two views of the same kernel binding have bytes in common.
bool views_overlap(const problem::Binding& a, const problem::Binding& b);

}  // namespace hone::measure
