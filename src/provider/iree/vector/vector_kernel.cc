#include "provider/iree/vector/vector_kernel.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <span>

#include "problem/scalar_operation.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using problem::ScalarKind;
using problem::StatedUse;
using problem::StatedValue;
using problem::Statement;

constexpr std::int64_t kMostStepsPacked = kStackBytes / kElementBytes / 8;  // for AVX2's 8 lanes

// Whether MLIR's operation on scalars is one on vectors too, with the same type of all operands.
bool has_vector_form(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::kRoot:
    case ScalarKind::kLoad:
    case ScalarKind::kTable:
    case ScalarKind::kConstant:
    case ScalarKind::kSum:
    case ScalarKind::kDifference:
    case ScalarKind::kProduct:
    case ScalarKind::kQuotient:
    case ScalarKind::kMultiplyAdd:
    case ScalarKind::kLarger:
    case ScalarKind::kSmaller:
    case ScalarKind::kNegation:
    case ScalarKind::kMagnitude:
    case ScalarKind::kComparison:
    case ScalarKind::kSelection:
    case ScalarKind::kFunction:
      return true;
    default:
      return false;
  }
}

Status check(const Statement& stated) {
  if (!stated.contracts() || stated.products() != 1)
    return input_error("hone's kernels for CPUs are single products and convolutions");
  for (const StatedUse& operand : stated.operands)
    if (operand.type != ElementType::kF32)
      return input_error("hone's kernels for CPUs have no operands of {}",
                         problem::name_of(operand.type));
  for (const StatedValue& value : stated.values) {
    const bool is_flag = value.operation.is(ScalarKind::kComparison);
    if (!has_vector_form(value.operation.kind()))
      return input_error("hone's kernels for CPUs have no {}", value.operation.name());
    if (value.type != (is_flag ? ElementType::kI1 : ElementType::kF32))
      return input_error("hone's kernels for CPUs compute f32, not {}",
                         problem::name_of(value.type));
  }
  return {};
}

bool is_read(const StatedValue& value) {
  return value.operation.is(ScalarKind::kLoad) || value.operation.is(ScalarKind::kTable);
}

std::vector<StatedUse> uses_of(const Statement& stated) {
  std::vector<StatedUse> uses = stated.operands;
  for (const StatedValue& value : stated.values)
    if (is_read(value)) uses.push_back(value.use);
  for (const problem::StatedStore& store : stated.stores) uses.push_back(store.use);
  return uses;
}

// Loops of one kind, the outermost first; neighbours that all uses walk as one are joined.
std::vector<KernelLoop> loops_of(const Statement& stated, const std::vector<StatedUse>& uses,
                                 bool reduced) {
  std::vector<KernelLoop> loops;
  for (std::size_t l = 0; l < stated.loops.size(); ++l) {
    KernelLoop inner{stated.loops[l].size, {}};
    if (stated.loops[l].is_reduced() != reduced || inner.size == 1) continue;
    for (const StatedUse& use : uses) inner.strides.push_back(use.strides[l]);
    const auto is_one = [&](std::int64_t outer, std::int64_t stride) {
      return outer == stride * inner.size;
    };
    if (!loops.empty() && std::ranges::equal(loops.back().strides, inner.strides, is_one)) {
      inner.size *= loops.back().size;
      loops.pop_back();
    }
    loops.push_back(std::move(inner));
  }
  return loops;
}

KernelLoop take(std::vector<KernelLoop>& loops, std::size_t number) {
  KernelLoop taken = std::move(loops[number]);
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(number));
  return taken;
}

// The loop along which results lie side by side, and what is read does or is one element. Operands
// that lie apart can be packed, as a last choice.
Result<KernelLoop> take_along(VectorKernel& kernel) {
  const std::size_t first_load = kernel.stated->operands.size(), first_store = kernel.store(0);
  const auto lies_well = [](std::int64_t stride) { return stride == 0 || stride == 1; };
  for (const bool packs : {false, true})
    for (std::size_t l = kernel.outer.size(); l-- > 0;) {
      const std::vector<std::int64_t>& strides = kernel.outer[l].strides;
      const auto operands = std::span(strides).first(first_load);
      const auto stores = std::span(strides).subspan(first_store);
      const std::ptrdiff_t apart = std::ranges::count_if(operands, std::not_fn(lies_well));
      if (apart != (packs ? 1 : 0) || kernel.outer[l].size < kFewestLanes ||
          !std::ranges::all_of(std::span(strides).subspan(first_load), lies_well) ||
          std::ranges::count(stores, 1) != std::ssize(stores))
        continue;
      if (packs)
        kernel.packed = static_cast<std::size_t>(
            std::ranges::find_if(operands, std::not_fn(lies_well)) - operands.begin());
      return take(kernel.outer, l);
    }
  return input_error(
      "no loop of {} steps or more along which its operands and results lie side by side",
      kFewestLanes);
}

// The loop of a tile's rows: one along which an operand that is read as vectors stays the same, so
// that a vector serves all rows; else the innermost.
KernelLoop take_rows(VectorKernel& kernel) {
  if (kernel.outer.empty()) return {1, std::vector<std::int64_t>(kernel.uses.size(), 0)};
  std::size_t best = kernel.outer.size() - 1;
  for (std::size_t l = kernel.outer.size(); l-- > 0;) {
    const auto shares = [&](std::size_t operand) {
      return kernel.is_vector(operand) && kernel.outer[l].strides[operand] == 0;
    };
    if (!shares(0) && !shares(1)) continue;
    best = l;
    break;
  }
  return take(kernel.outer, best);
}

std::int64_t steps(const std::vector<KernelLoop>& loops) {
  std::int64_t all = 1;
  for (const KernelLoop& loop : loops) all *= loop.size;
  return all;
}

bool is_in_place(const VectorKernel& kernel) {
  const std::size_t first_store = kernel.store(0);
  const auto binding = [&](const StatedUse& use) { return kernel.stated->views[use.view].binding; };
  const auto is_written = [&](const StatedUse& read) {
    return std::any_of(kernel.uses.begin() + static_cast<std::ptrdiff_t>(first_store),
                       kernel.uses.end(),
                       [&](const StatedUse& write) { return binding(read) == binding(write); });
  };
  return std::ranges::any_of(kernel.stated->operands, is_written) ||
         std::ranges::any_of(kernel.stated->values, [&](const StatedValue& value) {
           return value.operation.is(ScalarKind::kLoad) && is_written(value.use);
         });
}

}  // namespace

std::size_t VectorKernel::load(std::size_t value) const {
  const auto before = stated->values | std::views::take(value);
  return stated->operands.size() + static_cast<std::size_t>(std::ranges::count_if(before, is_read));
}

std::int64_t VectorKernel::outer_steps() const {
  return steps(outer);
}

std::int64_t VectorKernel::reduced_steps() const {
  return steps(reduced);
}

Result<VectorKernel> vector_kernel(const Statement& stated) {
  HONE_TRY(check(stated));
  VectorKernel kernel;
  kernel.stated = &stated;
  kernel.uses = uses_of(stated);
  kernel.outer = loops_of(stated, kernel.uses, false);
  kernel.reduced = loops_of(stated, kernel.uses, true);
  if (kernel.reduced.empty()) return input_error("it adds up nothing");
  HONE_ASSIGN(kernel.along, take_along(kernel));
  if (!kernel.is_vector(0) && !kernel.is_vector(1))
    return input_error("no operand of it lies side by side with its results");
  kernel.rows = take_rows(kernel);
  kernel.in_place = is_in_place(kernel);
  for (const StatedUse& use : kernel.uses)
    if (std::ranges::any_of(use.strides, [](std::int64_t stride) { return stride < 0; }))
      return input_error("it walks a buffer backwards");
  const auto moves = [&](const KernelLoop& loop) { return loop.strides[*kernel.packed] != 0; };
  if (kernel.packed && (moves(kernel.rows) || std::ranges::any_of(kernel.outer, moves)))
    return input_error("an operand lies apart along its results, and differs between rows");
  if (kernel.packed && kernel.reduced_steps() > kMostStepsPacked)
    return input_error(
        "an operand lies apart along its results, and a copy for {} steps is too large",
        kernel.reduced_steps());
  return kernel;
}

}  // namespace hone::iree
