#include "measure/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "measure/half.h"
#include "measure/parts.h"

namespace hone::measure {
namespace {

using problem::Binding;
using problem::BindingUse;
using problem::Dispatch;
using problem::ElementType;
using problem::Operand;
using problem::Operation;

// Rows of A that stay in the second-level cache while all of B passes by.
constexpr std::size_t kRowBlock = 64;

// The innermost part: C = A x B on packed panels. Explicit vectors, because the loops must be fast
// in unoptimised test builds too; sixteen bytes, because every x86-64 and AArch64 machine has
// registers of that size.
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

// Element offsets of one operand for every value of a group of loops, the last loop innermost.
using Offsets = std::vector<std::size_t>;

// A contraction as batches of matrix products: what each loop is follows from the operands it
// walks.
struct Plan {
  struct OperandOffsets {
    Offsets batch, outer, inner;
  };
  OperandOffsets lhs;  // batch, m, k
  OperandOffsets rhs;  // batch, k, n
  OperandOffsets out;  // batch, m, n
  std::size_t batches() const { return lhs.batch.size(); }
  std::size_t rows() const { return lhs.outer.size(); }
  std::size_t columns() const { return rhs.inner.size(); }
  std::size_t depth() const { return lhs.inner.size(); }
};

bool walks(const Operand& operand, int loop) {
  return std::ranges::count(operand.loops, loop) > 0;
}

// Elements from one value of the loop to the next; 0 when the operand is not walked by it.
std::size_t stride_of(const Operand& operand, int loop) {
  std::size_t stride = 0, inner = 1;
  for (std::size_t d = operand.loops.size(); d-- > 0;) {
    if (operand.loops[d] == loop) stride += inner;
    inner *= static_cast<std::size_t>(operand.type.shape[d]);
  }
  return stride;
}

Offsets offsets_of(const Operation& operation, const Operand& operand,
                   const std::vector<int>& loops) {
  Offsets offsets{0};
  for (const int loop : loops) {
    const auto extent =
        static_cast<std::size_t>(operation.loops[static_cast<std::size_t>(loop)].size);
    const std::size_t stride = stride_of(operand, loop);
    Offsets next;
    next.reserve(offsets.size() * extent);
    for (const std::size_t offset : offsets)
      for (std::size_t i = 0; i < extent; ++i) next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

Status check_operand(const Operation& operation, const Operand& operand, const char* name,
                     std::size_t bytes) {
  if (operand.loops.size() != operand.type.shape.size())
    return input_error("the {} of {} has {} dimensions but {} loops", name, operation.name,
                       operand.type.shape.size(), operand.loops.size());
  for (std::size_t d = 0; d < operand.loops.size(); ++d) {
    const int loop = operand.loops[d];
    if (loop < 0 || static_cast<std::size_t>(loop) >= operation.loops.size())
      return input_error("dimension {} of the {} of {} is not walked by a single loop", d, name,
                         operation.name);
    if (operand.type.shape[d] != operation.loops[static_cast<std::size_t>(loop)].size)
      return input_error("dimension {} of the {} of {} has {} elements, its loop {}", d, name,
                         operation.name, operand.type.shape[d],
                         operation.loops[static_cast<std::size_t>(loop)].size);
  }
  const auto needed = static_cast<std::size_t>(problem::byte_size(operand.type));
  if (bytes != needed)
    return input_error("the {} of {} ({}) takes {} bytes, got {}", name, operation.name,
                       problem::to_string(operand.type), needed, bytes);
  return {};
}

Plan plan_of(const Operation& operation) {
  const Operand &lhs = operation.operands[0], &rhs = operation.operands[1],
                &out = operation.operands[2];
  std::vector<int> batch, m, n, k;
  for (int loop = 0; loop < static_cast<int>(operation.loops.size()); ++loop) {
    const bool left = walks(lhs, loop), right = walks(rhs, loop);
    if (!walks(out, loop))
      k.push_back(loop);
    else
      (left == right ? batch : left ? m : n).push_back(loop);
  }
  Plan plan;
  plan.lhs = {offsets_of(operation, lhs, batch), offsets_of(operation, lhs, m),
              offsets_of(operation, lhs, k)};
  plan.rhs = {offsets_of(operation, rhs, batch), offsets_of(operation, rhs, k),
              offsets_of(operation, rhs, n)};
  plan.out = {offsets_of(operation, out, batch), offsets_of(operation, out, m),
              offsets_of(operation, out, n)};
  return plan;
}

// Common grid of a buffer's values: all are integers times 2^exponent, at most `largest`.
struct Grid {
  int exponent = std::numeric_limits<int>::max();  // max: all values are zero
  double largest = 0;
  bool finite = true;

  void add(const Grid& more) {
    exponent = std::min(exponent, more.exponent);
    largest = std::max(largest, more.largest);
    finite = finite && more.finite;
  }
};

Grid grid_of(std::span<const std::byte> bytes, ElementType type) {
  const auto size = problem::element_bytes(type);
  const std::vector<Grid> parts =
      in_parts(bytes.size() / size, [&](std::size_t begin, std::size_t end) {
        Grid grid;
        for (std::size_t i = begin; i < end; ++i) {
          const double value = load_element(bytes.data() + i * size, type);
          if (value == 0) continue;
          if (!std::isfinite(value)) {
            grid.finite = false;
            continue;
          }
          grid.add({lowest_digit(value), std::abs(value)});
        }
        return grid;
      });
  Grid grid;
  for (const Grid& part : parts) grid.add(part);
  return grid;
}

// A and B in the order in which the inner loop reads them, padded with zeros to whole panels.
template <class T>
struct Packed {
  std::vector<T> values;   // [panel][k][width]
  double largest_sum = 0;  // of absolute values over k, largest of all rows (columns)
};

template <class T>
T load_as(const std::byte* from, ElementType type) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(load_integer(from, type));
  else
    return static_cast<T>(load_element(from, type));
}

template <class T>
double magnitude(T value) {
  // Unsigned stands for a 64-bit integer of either sign.
  if constexpr (std::is_integral_v<T>)
    return std::abs(static_cast<double>(static_cast<std::int64_t>(value)));
  else
    return std::abs(static_cast<double>(value));
}

template <class T>
Packed<T> pack(std::span<const std::byte> bytes, ElementType type, std::size_t base,
               const Offsets& lines, const Offsets& depth, std::size_t width) {
  const auto size = problem::element_bytes(type);
  const std::size_t panels = (lines.size() + width - 1) / width;
  Packed<T> packed;
  packed.values.resize(panels * depth.size() * width);
  std::vector<double> sums(lines.size(), 0);
  for (std::size_t panel = 0; panel < panels; ++panel) {
    T* to = packed.values.data() + panel * depth.size() * width;
    const std::size_t first = panel * width, count = std::min(width, lines.size() - first);
    for (std::size_t k = 0; k < depth.size(); ++k)
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t offset = base + lines[first + i] + depth[k];
        const T value = load_as<T>(bytes.data() + offset * size, type);
        to[k * width + i] = value;
        sums[first + i] += magnitude(value);
      }
  }
  for (const double sum : sums) packed.largest_sum = std::max(packed.largest_sum, sum);
  return packed;
}

struct Matrices {
  std::span<const std::byte> lhs, rhs, initial;
  std::span<std::byte> output;
  ElementType lhs_type, rhs_type, output_type;
};

template <class T>
void store_sum(const Matrices& matrices, std::size_t offset, T sum) {
  const std::size_t at = offset * problem::element_bytes(matrices.output_type);
  std::byte* to = matrices.output.data() + at;
  if constexpr (std::is_integral_v<T>) {
    if (!matrices.initial.empty())
      sum += static_cast<T>(load_integer(matrices.initial.data() + at, matrices.output_type));
    store_integer(to, matrices.output_type, static_cast<std::int64_t>(sum));
  } else {
    double wide = static_cast<double>(sum);
    if (!matrices.initial.empty())
      wide += load_element(matrices.initial.data() + at, matrices.output_type);
    store_element(to, matrices.output_type, wide);
  }
}

// Both operands of a batch, packed.
template <class T>
struct PackedPair {
  PackedPair(const Plan& plan, const Matrices& matrices, std::size_t batch)
      : a(pack<T>(matrices.lhs, matrices.lhs_type, plan.lhs.batch[batch], plan.lhs.outer,
                  plan.lhs.inner, Panel<T>::kRows)),
        b(pack<T>(matrices.rhs, matrices.rhs_type, plan.rhs.batch[batch], plan.rhs.inner,
                  plan.rhs.outer, Panel<T>::kColumns)) {}

  // On sum |a||b|.
  double bound(double largest_lhs, double largest_rhs) const {
    return std::min(a.largest_sum * largest_rhs, b.largest_sum * largest_lhs);
  }

  Packed<T> a, b;
};

template <class T>
void multiply_rows(const Plan& plan, std::size_t batch, const PackedPair<T>& packed,
                   std::size_t begin, std::size_t end, const Matrices& matrices) {
  constexpr std::size_t kRows = Panel<T>::kRows, kColumns = Panel<T>::kColumns;
  T tile[kRows * kColumns];
  for (std::size_t block = begin; block < end; block += kRowBlock)
    for (std::size_t n = 0; n < plan.columns(); n += kColumns)
      for (std::size_t m = block; m < std::min(end, block + kRowBlock); m += kRows) {
        multiply_panels(packed.a.values.data() + m * plan.depth(),
                        packed.b.values.data() + n * plan.depth(), plan.depth(), tile);
        for (std::size_t i = 0; i < std::min(kRows, plan.rows() - m); ++i)
          for (std::size_t j = 0; j < std::min(kColumns, plan.columns() - n); ++j)
            store_sum(matrices,
                      plan.out.batch[batch] + plan.out.outer[m + i] + plan.out.inner[n + j],
                      tile[i * kColumns + j]);
      }
}

// A product of its own for each thread at a time: packing takes as long as multiplying where the
// other side is narrow.
template <class T>
double multiply_batches(const Plan& plan, const Matrices& matrices, double largest_lhs,
                        double largest_rhs, int threads) {
  const auto workers = static_cast<std::size_t>(std::max(1, threads));
  std::vector<double> bounds(workers, 0);
  const auto run = [&](std::size_t worker) {
    for (std::size_t batch = worker; batch < plan.batches(); batch += workers) {
      const PackedPair<T> packed(plan, matrices, batch);
      bounds[worker] = std::max(bounds[worker], packed.bound(largest_lhs, largest_rhs));
      multiply_rows(plan, batch, packed, 0, plan.rows(), matrices);
    }
  };
  on_threads(workers, run);
  return *std::ranges::max_element(bounds);
}

// Returns the bound on sum |a||b|.
template <class T>
double multiply(const Plan& plan, const Matrices& matrices, double largest_lhs, double largest_rhs,
                int threads) {
  if (plan.batches() >= static_cast<std::size_t>(threads))
    return multiply_batches<T>(plan, matrices, largest_lhs, largest_rhs, threads);
  double bound = 0;
  for (std::size_t batch = 0; batch < plan.batches(); ++batch) {
    const PackedPair<T> packed(plan, matrices, batch);
    bound = std::max(bound, packed.bound(largest_lhs, largest_rhs));

    const std::size_t blocks = (plan.rows() + kRowBlock - 1) / kRowBlock;
    const std::size_t workers =
        std::clamp<std::size_t>(static_cast<std::size_t>(threads), 1, blocks);
    on_threads(workers, [&](std::size_t worker) {
      multiply_rows(plan, batch, packed, blocks * worker / workers * kRowBlock,
                    std::min(plan.rows(), blocks * (worker + 1) / workers * kRowBlock), matrices);
    });
  }
  return bound;
}

// Whether integers up to bound / unit, times the unit, are values of the type.
bool holds(ElementType type, double bound, int unit_exponent) {
  if (bound > std::ldexp(1.0, unit_exponent + significand_digits(type))) return false;
  std::byte bytes[8];
  const auto survives = [&](double value) {
    store_element(bytes, type, value);
    return load_element(bytes, type) == value;
  };
  // Both ends of the exponent range: the unit itself, and the power of two above the bound / 2.
  return survives(std::ldexp(1.0, unit_exponent)) &&
         (bound == 0 || survives(std::ldexp(1.0, std::ilogb(bound))));
}

}  // namespace

Result<ExactContraction> exact_contraction(const Operation& operation,
                                           std::span<const std::byte> lhs,
                                           std::span<const std::byte> rhs, int threads,
                                           std::span<const std::byte> initial) {
  if (!problem::is_contraction(operation.kind) || operation.operands.size() != 3 ||
      operation.operands[0].output || operation.operands[1].output || !operation.operands[2].output)
    return input_error("{} ({}) is no contraction of two inputs into one output", operation.name,
                       problem::name_of(operation.kind));
  if (problem::is_dynamic(operation))
    return input_error("{} has extents known only at run time: give them first",
                       problem::describe(operation));
  HONE_TRY(check_operand(operation, operation.operands[0], "left input", lhs.size()));
  HONE_TRY(check_operand(operation, operation.operands[1], "right input", rhs.size()));
  const Operand& out = operation.operands[2];
  const auto output_bytes = static_cast<std::size_t>(problem::byte_size(out.type));
  HONE_TRY(
      check_operand(operation, out, "output", initial.empty() ? output_bytes : initial.size()));

  const Plan plan = plan_of(operation);
  ExactContraction result;
  result.output.resize(output_bytes);
  const Matrices matrices{lhs,
                          rhs,
                          initial,
                          result.output,
                          operation.operands[0].type.element,
                          operation.operands[1].type.element,
                          out.type.element};
  const Grid a = grid_of(lhs, matrices.lhs_type), b = grid_of(rhs, matrices.rhs_type),
             c = grid_of(initial, matrices.output_type);
  const bool finite = a.finite && b.finite && c.finite;
  const bool zero = a.largest == 0 || b.largest == 0;
  // Zeros fit any grid.
  const int unit = std::min(zero ? 0 : a.exponent + b.exponent, c.largest == 0 ? 0 : c.exponent);
  const double crude_units =
      std::ldexp(static_cast<double>(plan.depth()) * a.largest * b.largest + c.largest, -unit);
  const bool integers = !problem::is_float(matrices.lhs_type) &&
                        !problem::is_float(matrices.rhs_type) &&
                        !problem::is_float(matrices.output_type);

  if (finite && crude_units <= std::ldexp(1.0, 24) && a.largest < 1e18 && b.largest < 1e18 &&
      unit > -120)
    result.absolute_sum = multiply<float>(plan, matrices, a.largest, b.largest, threads);
  else if (integers && crude_units > std::ldexp(1.0, 53))
    result.absolute_sum = multiply<std::uint64_t>(plan, matrices, a.largest, b.largest, threads);
  else
    result.absolute_sum = multiply<double>(plan, matrices, a.largest, b.largest, threads);
  result.absolute_sum += c.largest;
  // Integer arithmetic modulo 2^bits gives one value in any order.
  result.exact = integers || (finite && holds(matrices.output_type, result.absolute_sum, unit));
  return result;
}

bool has_exact_reference(const Dispatch& dispatch) {
  return exact_bindings(dispatch).has_value();
}

std::vector<std::byte> finish_output(const Dispatch& dispatch, const ExactBindings& bindings,
                                     std::vector<std::byte> sums, std::span<const std::byte> bias) {
  if (!bindings.bias && !bindings.narrows) return sums;
  const Operand& root = dispatch.root.operands.back();
  const problem::TensorType& type = dispatch.bindings[bindings.output].type;
  const auto from = problem::element_bytes(root.type.element);
  const auto to = problem::element_bytes(type.element);
  // Elements from one index of the n loop to the next, and how many there are.
  std::size_t stride = 1, extent = 1;
  for (std::size_t d = root.loops.size(); d-- > 0;) {
    extent = static_cast<std::size_t>(root.type.shape[d]);
    const auto loop = static_cast<std::size_t>(root.loops[d]);
    if (dispatch.root.loops[loop].role == problem::LoopRole::kN) break;
    stride *= extent;
  }
  const std::size_t count = sums.size() / from;
  std::vector<std::byte> output(count * to);
  std::vector<double> added(bindings.bias ? extent : 0);
  if (bindings.bias) {
    const ElementType element = dispatch.bindings[*bindings.bias].type.element;
    const auto size = problem::element_bytes(element);
    for (std::size_t n = 0; n < extent; ++n)
      added[n] = load_element(bias.data() + n * size, element);
  }
  for (std::size_t i = 0; i < count; ++i) {
    double value = load_element(sums.data() + i * from, root.type.element);
    if (bindings.bias) {
      store_element(sums.data() + i * from, root.type.element, value + added[i / stride % extent]);
      value = load_element(sums.data() + i * from, root.type.element);
    }
    store_element(output.data() + i * to, type.element, value);
  }
  return output;
}

std::vector<std::byte> initial_output(const Dispatch& dispatch, std::span<const std::byte> before) {
  const Operand& output = dispatch.root.operands.back();
  if (dispatch.fused.empty()) return {before.begin(), before.end()};
  if (dispatch.fill_value == 0) return {};
  const auto size = problem::element_bytes(output.type.element);
  std::vector<std::byte> filled(static_cast<std::size_t>(problem::byte_size(output.type)));
  for (std::size_t at = 0; at < filled.size(); at += size)
    store_element(filled.data() + at, output.type.element, dispatch.fill_value);
  return filled;
}

}  // namespace hone::measure
