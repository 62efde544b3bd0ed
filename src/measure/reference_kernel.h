// The innermost part of the reference contraction: C = A x B on packed panels.
// Explicit vectors, because the loops must be fast in unoptimised test builds too; sixteen bytes,
// because every x86-64 and AArch64 machine has registers of that size.
#pragma once

#include <cstddef>
#include <cstring>

namespace hone::measure {

template <class T>
struct Panel {
  using Lane [[gnu::vector_size(16)]] = T;
  static constexpr std::size_t kLaneWidth = 16 / sizeof(T);
  static constexpr std::size_t kRows = 4;                  // rows of A in one panel
  static constexpr std::size_t kColumns = 2 * kLaneWidth;  // columns of B in one panel
};

// tile[row][column] = sum over k of a[k][row] * b[k][column]; a holds kRows, b kColumns values for
// each k.
template <class T>
void multiply_panels(const T* a, const T* b, std::size_t depth, T* tile) {
  using Lane = typename Panel<T>::Lane;
  constexpr std::size_t kWidth = Panel<T>::kLaneWidth;
  Lane c00{}, c01{}, c10{}, c11{}, c20{}, c21{}, c30{}, c31{};
  for (std::size_t k = 0; k < depth; ++k, a += 4, b += 2 * kWidth) {
    Lane b0, b1;
    std::memcpy(&b0, b, sizeof b0);
    std::memcpy(&b1, b + kWidth, sizeof b1);
    c00 += a[0] * b0;
    c01 += a[0] * b1;
    c10 += a[1] * b0;
    c11 += a[1] * b1;
    c20 += a[2] * b0;
    c21 += a[2] * b1;
    c30 += a[3] * b0;
    c31 += a[3] * b1;
  }
  const Lane lanes[] = {c00, c01, c10, c11, c20, c21, c30, c31};
  std::memcpy(tile, lanes, sizeof lanes);
}

}  // namespace hone::measure
