#include "provider/iree/compiler/sizes.h"

#include <algorithm>

#include "base/ranges.h"

namespace hone::iree {
namespace {

using Integer = std::optional<std::int64_t>;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

// Counts and sizes are not negative, so that the signed and unsigned variants agree.
bool divides(std::int64_t a, std::int64_t b) {
  return b > 0 && a >= 0;
}

template <class Number>
Integer at(const std::vector<Number>& values, std::int64_t i) {
  if (i < 0 || i >= std::ssize(values)) return std::nullopt;
  return values[to_index(i)];
}

Integer of_expression(const CApi& api, MlirAffineExpr expression,
                      const std::vector<std::int64_t>& dims,
                      const std::vector<std::int64_t>& symbols) {
  if (api.mlirAffineExprIsAConstant(expression))
    return api.mlirAffineConstantExprGetValue(expression);
  if (api.mlirAffineExprIsADim(expression))
    return at(dims, api.mlirAffineDimExprGetPosition(expression));
  if (api.mlirAffineExprIsASymbol(expression))
    return at(symbols, api.mlirAffineSymbolExprGetPosition(expression));
  const auto side = [&](MlirAffineExpr each) { return of_expression(api, each, dims, symbols); };
  const Integer a = side(api.mlirAffineBinaryOpExprGetLHS(expression));
  const Integer b = side(api.mlirAffineBinaryOpExprGetRHS(expression));
  if (!a || !b) return std::nullopt;
  if (api.mlirAffineExprIsAAdd(expression)) return *a + *b;
  if (api.mlirAffineExprIsAMul(expression)) return *a * *b;
  if (!divides(*a, *b)) return std::nullopt;
  if (api.mlirAffineExprIsAMod(expression)) return *a % *b;
  if (api.mlirAffineExprIsAFloorDiv(expression)) return *a / *b;
  if (api.mlirAffineExprIsACeilDiv(expression)) return ceil_div(*a, *b);
  return std::nullopt;
}

// Predicates as MLIR's ArithBase.td numbers them.
Integer compare(std::int64_t predicate, std::int64_t a, std::int64_t b) {
  switch (predicate) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
    case 6:
      return a < b;
    case 3:
    case 7:
      return a <= b;
    case 4:
    case 8:
      return a > b;
    case 5:
    case 9:
      return a >= b;
    default:
      return std::nullopt;
  }
}

bool passes_through(std::string_view kind) {
  return is_any_of(kind, {"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui",
                          "arith.trunci", "iree_tensor_ext.dispatch.workload.ordinal",
                          "index.casts", "index.castu", "util.optimization_barrier"});
}

// The index dialect as arith, which it is named after.
std::string_view in_arith(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"index.add", "arith.addi"},
      {"index.sub", "arith.subi"},
      {"index.mul", "arith.muli"},
      {"index.divs", "arith.divsi"},
      {"index.divu", "arith.divui"},
      {"index.ceildivs", "arith.ceildivsi"},
      {"index.ceildivu", "arith.ceildivui"},
      {"index.rems", "arith.remsi"},
      {"index.remu", "arith.remui"},
      {"index.maxs", "arith.maxsi"},
      {"index.maxu", "arith.maxui"},
      {"index.mins", "arith.minsi"},
      {"index.minu", "arith.minui"},
      {"index.shl", "arith.shli"},
      {"index.shru", "arith.shrui"},
      {"index.and", "arith.andi"},
      {"index.or", "arith.ori"}};
  for (const auto& [index, arith] : kNames)
    if (kind == index) return arith;
  return kind;
}

// Operations whose result has the extents of their first operand.
bool keeps_extents(std::string_view kind) {
  return is_any_of(kind,
                   {"memref.assume_alignment", "iree_codegen.load_from_buffer", "tensor.cast"});
}

}  // namespace

Integer Sizes::integer(MlirValue value) const {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  if (open_.contains(value)) return std::nullopt;
  Integer result = given_ ? given_(value) : std::nullopt;
  const MlirOperation operation = ir_.defining_operation(value);
  if (!result) result = operation ? computed(operation, value) : of_branches(value);
  if (result || open_.empty())
    known_[value] = result;
  else
    open_.insert(value);
  return result;
}

// The one integer that all branches to the argument's block pass for it, through the arguments of
// other blocks. What is computed from the argument itself is not known meanwhile.
Integer Sizes::of_branches(MlirValue argument) const {
  const bool is_outermost = open_.empty();
  open_.insert(argument);
  Integer result;
  bool differs = false;
  std::vector<MlirValue> arguments{argument};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const MlirValue passed : ir_.passed_to(arguments[i])) {
      if (passed && !ir_.passed_to(passed).empty()) {
        if (std::ranges::count(arguments, passed) == 0) arguments.push_back(passed);
        continue;
      }
      const Integer each = passed ? integer(passed) : std::nullopt;
      differs = differs || !each || (result && *result != *each);
      if (!result) result = each;
    }
  if (is_outermost) open_.clear();
  return differs && turns_ == Turns::kAll ? std::nullopt : result;
}

Integer Sizes::computed(MlirOperation operation, MlirValue value) const {
  const std::string_view kind = ir_.name(operation);
  if (kind == "arith.constant" || kind == "index.constant")
    return ir_.integer_value(ir_.attribute(operation, "value"));
  const std::vector<MlirValue> inputs = ir_.operands(operation);
  if (passes_through(kind)) return integer(inputs.at(0));
  if (kind == "util.assume.int") {
    const std::vector<MlirValue> results = ir_.results(operation);
    for (std::size_t i = 0; i < results.size() && i < inputs.size(); ++i)
      if (results[i] == value) return integer(inputs[i]);
    return std::nullopt;
  }
  if (kind == "affine.apply" || kind == "affine.min" || kind == "affine.max")
    return of_map(operation);
  if (kind == "arith.select" && inputs.size() == 3) {
    const Integer condition = integer(inputs[0]);
    return condition ? integer(inputs[*condition != 0 ? 1 : 2]) : std::nullopt;
  }
  if (inputs.size() != 2) return std::nullopt;
  if (kind == "tensor.dim") {
    const auto tensor = type(inputs[0]);
    return tensor ? at(tensor->shape, integer(inputs[1]).value_or(-1)) : std::nullopt;
  }
  const Integer a = integer(inputs[0]), b = integer(inputs[1]);
  if (!a || !b) return std::nullopt;
  if (kind == "arith.cmpi")
    return compare(ir_.integer_value(ir_.attribute(operation, "predicate")).value_or(-1), *a, *b);
  return of_two(in_arith(kind), *a, *b);
}

Integer Sizes::of_two(std::string_view kind, std::int64_t a, std::int64_t b) const {
  if (kind == "arith.addi") return a + b;
  if (kind == "arith.subi") return a - b;
  if (kind == "arith.muli") return a * b;
  if (kind == "arith.minsi" || kind == "arith.minui") return std::min(a, b);
  if (kind == "arith.maxsi" || kind == "arith.maxui") return std::max(a, b);
  if (kind == "arith.ori" && a >= 0 && b >= 0) return a | b;
  if (kind == "arith.andi" && a >= 0 && b >= 0) return a & b;
  constexpr std::int64_t kBits = 63;
  if (kind == "arith.shli" && a >= 0 && b >= 0 && b < kBits && a >> (kBits - b) == 0) return a << b;
  if (kind == "arith.shrui" && a >= 0 && b >= 0 && b < kBits) return a >> b;
  if (!divides(a, b)) return std::nullopt;
  if (kind == "util.align") return ceil_div(a, b) * b;
  if (kind == "arith.divsi" || kind == "arith.divui" || kind == "arith.floordivsi") return a / b;
  if (kind == "arith.ceildivsi" || kind == "arith.ceildivui") return ceil_div(a, b);
  if (kind == "arith.remsi" || kind == "arith.remui") return a % b;
  return std::nullopt;
}

Integer Sizes::of_map(MlirOperation operation) const {
  const CApi& api = ir_.api();
  const MlirAttribute attribute = ir_.attribute(operation, "map");
  if (!attribute) return std::nullopt;
  const MlirAffineMap map = api.mlirAffineMapAttrGetValue(attribute);
  std::vector<std::int64_t> dims, symbols;
  for (const MlirValue operand : ir_.operands(operation)) {
    const Integer known = integer(operand);
    if (!known) return std::nullopt;
    (std::ssize(dims) < api.mlirAffineMapGetNumDims(map) ? dims : symbols).push_back(*known);
  }
  Integer best;
  for (std::intptr_t i = 0; i < api.mlirAffineMapGetNumResults(map); ++i) {
    const Integer each = of_expression(api, api.mlirAffineMapGetResult(map, i), dims, symbols);
    if (!each) return std::nullopt;
    if (!best)
      best = each;
    else
      best = ir_.is(operation, "affine.max") ? std::max(*best, *each) : std::min(*best, *each);
  }
  return best;
}

std::optional<problem::TensorType> Sizes::type(MlirValue value) const {
  auto type = ir_.type(value);
  if (!type || !problem::is_dynamic(*type)) return type;
  const auto known = extents(value);
  if (!known || known->size() != type->shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < known->size(); ++i) {
    if (type->shape[i] != problem::kDynamic && type->shape[i] != (*known)[i]) return std::nullopt;
    type->shape[i] = (*known)[i];
  }
  return type;
}

// Finds the extents of a value whose type leaves some of them open.
std::optional<std::vector<std::int64_t>> Sizes::extents(MlirValue value) const {
  const MlirOperation operation = ir_.defining_operation(value);
  if (!operation) return given_extents_ ? given_extents_(value) : std::nullopt;
  const auto open = ir_.type(value);
  if (!open) return std::nullopt;
  const std::string_view kind = ir_.name(operation);
  const std::vector<MlirValue> operands = ir_.operands(operation);
  // The operands from `first` on are the open extents, in order.
  const auto listed = [&](std::size_t first) -> std::optional<std::vector<std::int64_t>> {
    std::vector<std::int64_t> all = open->shape;
    for (std::int64_t& extent : all) {
      if (extent != problem::kDynamic) continue;
      const Integer known = first < operands.size() ? integer(operands[first++]) : std::nullopt;
      if (!known) return std::nullopt;
      extent = *known;
    }
    return all;
  };
  if (kind == "tensor.empty") return listed(0);
  if (kind == "hal.interface.binding.subspan") return listed(1);  // after the byte offset
  if (kind == "hal.tensor.import") return listed(1);              // after the buffer
  if (kind == "iree_tensor_ext.dispatch.tensor.load" || kind == "tensor.extract_slice") {
    // Segments: source, (of a load: its extents,) offsets, sizes, strides.
    const std::vector<int> segments = ir_.integers(ir_.attribute(operation, "operandSegmentSizes"));
    if (segments.size() < 4) return std::nullopt;
    int first = 0;
    for (std::size_t i = 0; i + 2 < segments.size(); ++i) first += segments[i];
    return listed(to_index(first));
  }
  if (keeps_extents(kind) && !operands.empty()) {
    const auto whole = type(operands.front());
    return whole ? std::optional(whole->shape) : std::nullopt;
  }
  if (!kind.starts_with("linalg.")) return std::nullopt;
  // A result has the extents of the output operand that it replaces.
  const std::vector<MlirValue> results = ir_.results(operation);
  for (std::size_t i = 0; i < results.size() && results.size() <= operands.size(); ++i)
    if (results[i] == value) {
      const auto out = type(operands[operands.size() - results.size() + i]);
      return out ? std::optional(out->shape) : std::nullopt;
    }
  return std::nullopt;
}

Sizes kernel_sizes(const Ir& ir, const std::vector<std::uint32_t>& constants) {
  return Sizes(ir, [ir, constants](MlirValue value) -> Integer {
    const MlirOperation operation = ir.defining_operation(value);
    if (!ir.is(operation, "hal.interface.constant.load")) return std::nullopt;
    return at(constants, ir.integer_value(ir.attribute(operation, "ordinal")).value_or(-1));
  });
}

Sizes count_sizes(const Ir& ir, MlirOperation export_operation,
                  const std::vector<std::int64_t>& workload) {
  return Sizes(ir, [ir, export_operation, workload](MlirValue value) -> Integer {
    const auto argument = ir.argument(value);
    if (!argument || argument->of != export_operation) return std::nullopt;
    return at(workload, static_cast<std::int64_t>(argument->number) - 1);  // after the device
  });
}

}  // namespace hone::iree
