#include "measure/inputs.h"

#include <algorithm>
#include <cmath>

#include "measure/half.h"
#include "measure/parts.h"

namespace hone::measure {
namespace {

using problem::ElementType;

// Integers of unit size would all be 1: they are drawn from this range.
constexpr int kUnitMagnitude = 4;
// Further streams of a binding, beside that of its elements: they choose the special elements of a
// row.
constexpr std::uint64_t kFirstPlace = 0x66697273, kSecondPlace = 0x7365636F;

// [0, 1) with 24 bits, and [0, below) from the upper bits (Lemire's multiplication; the bias of
// below / 2^32 does not matter here).
double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 40) / 16777216.0;
}
std::uint64_t below(std::uint64_t bits, std::uint64_t limit) {
  return ((bits >> 32) * limit) >> 32;
}

double with_digits(double value, int digits) {
  if (digits <= 0) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - digits + 1);
  return std::rint(value / unit) * unit;
}

// An element's place in its binding.
struct PlaceInRow {
  std::uint64_t row = 0;      // of the indices that are not reduced
  std::uint64_t element = 0;  // of the others
  bool odd = false;           // the index that splits
  bool splits = false;
};

class Axes {
 public:
  explicit Axes(const std::vector<InputAxis>& axes) : axes_(axes) {
    for (const InputAxis& axis : axes_) splits_ |= splits(axis);
  }

  PlaceInRow place(std::size_t index) const {
    PlaceInRow place;
    place.splits = splits_;
    std::uint64_t row_stride = 1, element_stride = 1, rest = index;
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const std::uint64_t extent = extent_of(axes_[d]);
      const std::uint64_t at = rest % extent;
      rest /= extent;
      std::uint64_t& stride = axes_[d].reduced ? element_stride : row_stride;
      (axes_[d].reduced ? place.element : place.row) += at * stride;
      stride *= extent;
      if (splits(axes_[d])) place.odd = at % 2 == 1;
    }
    place.row += rest * row_stride;
    return place;
  }

  // Returns the element of a row that `draw` chooses among those whose split index is odd, or even;
  // among all when nothing splits.
  std::uint64_t choose(std::uint64_t draw, bool odd) const {
    std::uint64_t chosen = 0, stride = 1;
    for (std::size_t d = axes_.size(); d-- > 0;) {
      if (!axes_[d].reduced) continue;
      const std::uint64_t extent = extent_of(axes_[d]);
      const bool half = splits(axes_[d]);
      const std::uint64_t choices = !half ? extent : odd ? extent / 2 : (extent + 1) / 2;
      const std::uint64_t at = draw % choices;
      draw /= choices;
      chosen += (half ? 2 * at + (odd ? 1 : 0) : at) * stride;
      stride *= extent;
    }
    return chosen;
  }

 private:
  static std::uint64_t extent_of(const InputAxis& axis) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, axis.extent));
  }
  static bool splits(const InputAxis& axis) { return axis.splits && axis.extent > 1; }

  const std::vector<InputAxis>& axes_;
  bool splits_ = false;
};

class Generator {
 public:
  Generator(const InputValues& values, ElementType type, std::uint64_t seed)
      : values_(values), axes_(values.axes), type_(type), seed_(seed) {}

  double at(std::size_t index) const {
    const std::uint64_t bits = random_bits(seed_, index);
    // Every value of a truth value but 0 is 1: draw it.
    if (type_ == ElementType::kI1) return static_cast<double>(bits & 1);
    const double sign = !values_.positive && (bits & 1) != 0 ? -1 : 1;
    switch (values_.kind) {
      case InputValues::Kind::kIndices:
        return static_cast<double>(below(bits, static_cast<std::uint64_t>(values_.limit)));
      case InputValues::Kind::kReals:
        return sign * real(bits);
      case InputValues::Kind::kExtremes:
        return extreme(index, bits, sign);
      case InputValues::Kind::kSparse:
        return sparse(index, bits, sign);
      case InputValues::Kind::kGiven:
      case InputValues::Kind::kIntegers:
        break;
    }
    // Bits 1..24 decide about zero, the upper 32 about the magnitude: independent of each other.
    if (static_cast<double>((bits >> 1) & 0xFFFFFF) >= values_.density * 16777216.0) return 0;
    const auto magnitude = 1 + below(bits, static_cast<std::uint64_t>(values_.magnitude));
    return sign * std::ldexp(static_cast<double>(magnitude), values_.exponent);
  }

 private:
  double real(std::uint64_t bits) const {
    if (!problem::is_float(type_)) return static_cast<double>(1 + below(bits, kUnitMagnitude));
    return std::ldexp(0.5 + unit_interval(bits), values_.exponent);
  }

  // Two elements of each row stand out.
  double extreme(std::size_t index, std::uint64_t bits, double sign) const {
    const bool is_float = problem::is_float(type_);
    const PlaceInRow place = axes_.place(index);
    const std::uint64_t first = axes_.choose(random_bits(seed_ ^ kFirstPlace, place.row), false);
    const std::uint64_t second = axes_.choose(random_bits(seed_ ^ kSecondPlace, place.row), false);
    const bool is_first = place.element == first, is_second = place.element == second;
    if (!is_first && !is_second)
      return is_float ? sign * real(bits)
                      : sign * static_cast<double>(
                                   below(bits, static_cast<std::uint64_t>(values_.magnitude) / 2));
    const double largest =
        is_float ? std::ldexp(2 + unit_interval(bits), values_.exponent)
                 : static_cast<double>(
                       values_.magnitude -
                       static_cast<int>(
                           below(bits, static_cast<std::uint64_t>(values_.magnitude) / 4 + 1)));
    return is_first || values_.positive ? largest : -largest;
  }

  double sparse(std::size_t index, std::uint64_t bits, double sign) const {
    const PlaceInRow place = axes_.place(index);
    const double full = sign * with_digits(1 + unit_interval(bits), values_.digits);
    const double power = sign * ((bits & 2) != 0 ? 2 : 1);
    const std::uint64_t draw = random_bits(seed_ ^ kFirstPlace, place.row);
    if (values_.alone) return place.element == axes_.choose(draw, false) ? full : 0;
    if (!values_.second_factor) {
      if (!place.splits || !place.odd) return full;
      return place.element == axes_.choose(draw, true) ? power : 0;
    }
    if (place.splits && place.row % 2 == 1) return place.odd ? full : 0;
    return place.element == axes_.choose(draw, false) ? power : 0;
  }

  const InputValues& values_;
  Axes axes_;
  ElementType type_;
  std::uint64_t seed_;
};

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t binding_seed(std::uint64_t run_seed, std::size_t binding) {
  // Through the generator twice: seeds that differ by one must not give streams shifted by one.
  return random_bits(random_bits(run_seed, 0x686F6E65), binding);
}

ValueRange range_of(const InputValues& values, ElementType type) {
  const bool is_float = problem::is_float(type);
  const int digits = significand_digits(type);
  const auto limit = static_cast<double>(values.limit);
  ValueRange range;
  switch (values.kind) {
    case InputValues::Kind::kGiven:
      return values.given;
    case InputValues::Kind::kIndices:
      return {0, limit, 0, limit / 2.0, limit * 0.6, 0};
    case InputValues::Kind::kIntegers: {
      const double unit = std::ldexp(1.0, values.exponent), m = values.magnitude;
      range.high = m * unit;
      range.smallest = values.density < 1 ? 0 : unit;
      range.mean = values.positive ? values.density * (m + 1) / 2 * unit : 0;
      range.rms = std::sqrt(values.density * (m + 1) * (2 * m + 1) / 6) * unit;
      range.grid = values.exponent;
      break;
    }
    case InputValues::Kind::kReals:
    case InputValues::Kind::kExtremes: {
      const bool extremes = values.kind == InputValues::Kind::kExtremes;
      const double unit = std::ldexp(1.0, values.exponent);
      if (!is_float) {
        range.high = extremes ? values.magnitude : kUnitMagnitude;
        range.smallest = extremes ? 0 : 1;
        range.mean = values.positive ? range.high / 2 : 0;
        range.rms = range.high * 0.6;
        range.grid = 0;
        break;
      }
      range.high = (extremes ? 3 : 1.5) * unit;
      range.smallest = 0.5 * unit;
      range.mean = values.positive ? unit : 0;
      range.rms = 1.05 * unit;
      range.grid = values.exponent - std::min(24, digits);
      break;
    }
    case InputValues::Kind::kSparse: {
      range.high = 2;
      range.rms = 1;
      const int held = std::min(values.digits > 0 ? values.digits : digits, 25);
      range.grid = is_float ? 1 - held : 0;
      break;
    }
  }
  range.low = values.positive ? (values.density < 1 ? 0 : range.smallest) : -range.high;
  return range;
}

void fill_input(std::span<std::byte> bytes, ElementType type, const InputValues& values,
                std::uint64_t seed) {
  const auto size = problem::element_bytes(type);
  const std::size_t count = bytes.size() / size;
  const Generator generator(values, type, seed);
  in_parts(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      store_element(bytes.data() + i * size, type, generator.at(i));
    return true;
  });
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(count * size), bytes.end(), std::byte{0});
}

}  // namespace hone::measure
