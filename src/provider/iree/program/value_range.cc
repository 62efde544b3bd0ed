#include <algorithm>
#include <array>
#include <cmath>

#include "provider/iree/program/argument_ranges.h"

namespace hone::iree {
namespace {

template <typename Operation>
Range of_corners(const Range& a, const Range& b, Operation of) {
  const std::array corners = {of(a.least, b.least), of(a.least, b.most), of(a.most, b.least),
                              of(a.most, b.most)};
  const auto [least, most] = std::ranges::minmax(corners);
  return {least, most};
}

Range remainder_of(const Range& a, const Range& b) {
  if (!(b.least > 0)) return {};
  if (a.least >= 0 && a.most < b.least) return {a.least, a.most};
  return {a.least < 0 ? 1 - b.most : 0, b.most - 1};
}

Range quotient(const Range& a, const Range& b, bool floors) {
  if (!(b.least > 0) || std::isinf(b.most)) return {};
  return of_corners(
      a, b, [&](double x, double y) { return floors ? std::floor(x / y) : std::trunc(x / y); });
}

}  // namespace

Range hull(Range a, const Range& b) {
  a.least = std::min(a.least, b.least);
  a.most = std::max(a.most, b.most);
  a.inputs.insert(b.inputs.begin(), b.inputs.end());
  return a;
}

double times(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

std::optional<Range> range_of_two(std::string_view kind, const Range& a, const Range& b) {
  if (kind == "arith.addi" || kind == "arith.addf")
    return Range{a.least + b.least, a.most + b.most};
  if (kind == "arith.subi" || kind == "arith.subf")
    return Range{a.least - b.most, a.most - b.least};
  if (kind == "arith.muli" || kind == "arith.mulf") return of_corners(a, b, times);
  if (kind == "arith.minsi" || kind == "arith.minimumf" || kind == "arith.minnumf" ||
      (kind == "arith.minui" && a.least >= 0 && b.least >= 0))
    return Range{std::min(a.least, b.least), std::min(a.most, b.most)};
  if (kind == "arith.maxsi" || kind == "arith.maximumf" || kind == "arith.maxnumf" ||
      (kind == "arith.maxui" && a.least >= 0 && b.least >= 0))
    return Range{std::max(a.least, b.least), std::max(a.most, b.most)};
  if (kind == "arith.divsi" || (kind == "arith.divui" && a.least >= 0))
    return quotient(a, b, false);
  if (kind == "arith.floordivsi") return quotient(a, b, true);
  if (kind == "arith.remsi" || (kind == "arith.remui" && a.least >= 0)) return remainder_of(a, b);
  if (kind == "arith.andi" && a.least >= 0 && b.least >= 0)
    return Range{0, std::min(a.most, b.most)};
  return std::nullopt;
}

std::optional<bool> decided(std::int64_t predicate, const Range& a, const Range& b) {
  const auto below = [](const Range& x, const Range& y, bool or_equal) -> std::optional<bool> {
    if (or_equal ? x.most <= y.least : x.most < y.least) return true;
    if (or_equal ? x.least > y.most : x.least >= y.most) return false;
    return std::nullopt;
  };
  if (predicate >= 6) {
    if (a.least < 0 || b.least < 0) return std::nullopt;
    predicate -= 4;
  }
  switch (predicate) {
    case 0:
    case 1: {
      if (a.most < b.least || a.least > b.most) return predicate == 1;
      if (a.least == a.most && b.least == b.most) return predicate == 0;
      return std::nullopt;
    }
    case 2:
      return below(a, b, false);
    case 3:
      return below(a, b, true);
    case 4:
      return below(b, a, false);
    case 5:
      return below(b, a, true);
    default:
      return std::nullopt;
  }
}

std::optional<Range> narrowed(Range a, std::int64_t predicate, bool holds, const Range& b) {
  constexpr std::array<std::int64_t, 6> kOpposite = {1, 0, 5, 4, 3, 2};
  if (predicate < 0 || predicate > 5) return a;
  if (!holds) predicate = kOpposite[static_cast<std::size_t>(predicate)];
  if (predicate == 0) {
    a.least = std::max(a.least, b.least);
    a.most = std::min(a.most, b.most);
  }
  if (predicate == 2) a.most = std::min(a.most, b.most - 1);
  if (predicate == 3) a.most = std::min(a.most, b.most);
  if (predicate == 4) a.least = std::max(a.least, b.least + 1);
  if (predicate == 5) a.least = std::max(a.least, b.least);
  if (a.least > a.most) return std::nullopt;
  return a;
}

}  // namespace hone::iree
