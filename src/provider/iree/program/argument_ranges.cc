#include "provider/iree/program/argument_ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace hone::iree {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Deeper chains are as good as unknown; one level takes a few hundred bytes of stack.
constexpr int kDeepest = 2000;
constexpr int kMostAssumptions = 4;

// The range of a value, or of each element of a tensor, and the inputs that it is computed from.
struct Range {
  double least = -kUnbounded, most = kUnbounded;
  std::set<int> inputs = {};
};

Range hull(Range a, const Range& b) {
  a.least = std::min(a.least, b.least);
  a.most = std::max(a.most, b.most);
  a.inputs.insert(b.inputs.begin(), b.inputs.end());
  return a;
}

// 0 x infinity is 0 here: no element is infinite.
double times(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

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

std::optional<Range> of_two(std::string_view kind, const Range& a, const Range& b) {
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

// arith.cmpi's predicates: eq ne slt sle sgt sge ult ule ugt uge.
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

// The part of `a` for which "a PREDICATE b" holds; nothing where it holds for none.
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

bool is_any_of(std::string_view kind, std::initializer_list<std::string_view> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

// Operations that neither change an element of their first operand nor say what it may be.
bool passes_through(std::string_view kind) {
  return is_any_of(kind, {"arith.index_cast",
                          "arith.extsi",
                          "arith.trunci",
                          "arith.sitofp",
                          "arith.extf",
                          "arith.truncf",
                          "tensor.cast",
                          "tensor.expand_shape",
                          "tensor.collapse_shape",
                          "tensor.reshape",
                          "tensor.extract",
                          "tensor.extract_slice",
                          "tensor.splat",
                          "linalg.fill",
                          "linalg.transpose",
                          "linalg.broadcast",
                          "linalg.copy",
                          "hal.tensor.import",
                          "hal.tensor.barrier",
                          "util.optimization_barrier",
                          "flow.tensor.reshape",
                          "tensor.bitcast",
                          "arith.fptosi"});
}

// The demand of an access on a value: to lie within 0 .. most, or not to be made up.
struct Demand {
  MlirValue value;
  std::optional<double> most = {};  // nothing: not known
  std::string_view unknown = {};    // what it is, where no range would do
  std::set<int> inputs = {};        // that it may come of
};

class Reader {
 public:
  Reader(const Ir& ir, const OwnedModule& module, const problem::Function& function)
      : ir_(ir), api_(ir.api()), function_(function), ranges_(function.inputs.size()) {
    for (const MlirOperation each : ir.children(module.get(), "util.func"))
      functions_.emplace(ir.symbol(each), each);
  }

  std::vector<problem::InputRange> read() {
    const auto found = functions_.find(function_.name);
    if (found == functions_.end()) return {};
    reach(found->second);
    std::vector<problem::InputRange> all;
    const std::set<int> inputs = find_inputs();
    for (const int input : inputs) at(input) = {0, 0, {input}};
    // From a point where every access is within its tensor each input's range grows by itself.
    for (const int input : inputs) move_to_where_all_hold(input);
    for (const int input : inputs) all.push_back(range_of(input));
    return all;
  }

 private:
  // The inputs that demands come of; what none flows into is the program's own.
  std::set<int> find_inputs() {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const problem::ElementType element = function_.inputs[i].element;
      // Both truth values are drawn, and reals of about unit size.
      if (element == problem::ElementType::kI1)
        ranges_[i] = {0, 1};
      else if (problem::is_float(element))
        ranges_[i] = {-2, 2};
      else
        ranges_[i].inputs = {static_cast<int>(i)};
    }
    std::set<int> all;
    for (Demand& each : demands_) {
      each.inputs = range(each.value).inputs;
      all.insert(each.inputs.begin(), each.inputs.end());
    }
    std::erase_if(demands_, [](const Demand& each) { return each.inputs.empty(); });
    return all;
  }

  // Notes what `function` and those it calls demand.
  void reach(MlirOperation function) {
    if (!reached_.insert(function.ptr).second) return;
    ir_.walk(function, [&](MlirOperation operation) {
      if (ir_.is(operation, "util.call")) {
        const auto found = functions_.find(ir_.leaf_symbol(ir_.attribute(operation, "callee")));
        if (found == functions_.end()) return;
        calls_[found->second.ptr].push_back(operation);
        reach(found->second);
      } else {
        add_demands(operation);
      }
    });
  }

  void shape(MlirValue value) { demands_.push_back({value, {}, "a shape"}); }
  void trips(MlirValue value) { demands_.push_back({value, {}, "a trip count"}); }

  void add_demands(MlirOperation operation) {
    const std::string_view kind = ir_.name(operation);
    const std::vector<MlirValue> operands = ir_.operands(operation);
    if (kind == "tensor.extract" || kind == "tensor.insert") {
      const std::size_t tensor = kind == "tensor.extract" ? 0 : 1;
      for (std::size_t d = 0; d + tensor + 1 < operands.size(); ++d)
        demands_.push_back(
            {operands[d + tensor + 1], last_index(operands[tensor], d, std::int64_t{1})});
    } else if (kind == "tensor.extract_slice" || kind == "tensor.insert_slice") {
      add_slice(operation, operands, kind == "tensor.extract_slice" ? 0 : 1);
    } else if (kind == "iree_linalg_ext.gather" && operands.size() >= 3) {
      add_mapped(operation, operands[0], operands[1]);
    } else if (kind == "iree_linalg_ext.scatter" && operands.size() >= 3) {
      add_mapped(operation, operands[2], operands[1]);
    } else if (is_any_of(kind, {"tensor.empty", "bufferization.alloc_tensor", "tensor.generate"})) {
      for (const MlirValue operand : operands) shape(operand);
    } else if (is_any_of(kind, {"tensor.expand_shape", "tensor.reshape", "tensor.splat",
                                "flow.tensor.reshape", "flow.tensor.splat"})) {
      for (std::size_t i = 1; i < operands.size(); ++i) shape(operands[i]);
    } else if (kind == "tensor.pad") {
      // The last operand of a region's yield is no operand here.
      for (std::size_t i = 1; i < operands.size(); ++i) shape(operands[i]);
    } else if (kind == "scf.for") {
      for (std::size_t i = 0; i < 3 && i < operands.size(); ++i) trips(operands[i]);
    } else if (kind == "scf.condition" && !operands.empty()) {
      trips(operands[0]);
    }
  }

  void add_slice(MlirOperation operation, const std::vector<MlirValue>& operands,
                 std::size_t tensor) {
    const std::vector<std::int64_t> offsets =
        ir_.long_integers(ir_.attribute(operation, "static_offsets"));
    const std::vector<std::int64_t> sizes =
        ir_.long_integers(ir_.attribute(operation, "static_sizes"));
    const std::vector<std::int64_t> strides =
        ir_.long_integers(ir_.attribute(operation, "static_strides"));
    constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::min();
    std::size_t next = tensor + 1;
    for (std::size_t d = 0; d < offsets.size(); ++d) {
      if (offsets[d] != kOpen || next >= operands.size()) continue;
      const bool known = d < sizes.size() && sizes[d] != kOpen && strides[d] != kOpen;
      demands_.push_back({operands[next++],
                          known ? last_index(operands[tensor], d, (sizes[d] - 1) * strides[d] + 1)
                                : std::nullopt});
    }
    for (; next < operands.size(); ++next) shape(operands[next]);
  }

  // Columns of `indices` are for dimensions of `tensor`: all have the smallest one's range.
  void add_mapped(MlirOperation operation, MlirValue tensor, MlirValue indices) {
    Demand demand{indices, kUnbounded};
    for (const std::int64_t d : ir_.long_integers(ir_.attribute(operation, "dimension_map"))) {
      const auto most = last_index(tensor, static_cast<std::size_t>(d), 1);
      if (!most) demand.most.reset();
      if (most && demand.most) demand.most = std::min(*demand.most, *most);
    }
    demands_.push_back(demand);
  }

  // The access to a piece of `size` elements in dimension `d`.
  std::optional<double> last_index(MlirValue tensor, std::size_t d, std::int64_t size) const {
    const std::int64_t extent = extent_of(tensor, d);
    if (extent == problem::kDynamic) return std::nullopt;
    return static_cast<double>(extent - size);
  }

  std::int64_t extent_of(MlirValue tensor, std::size_t d) const {
    const MlirType type = api_.mlirValueGetType(tensor);
    if (!api_.mlirTypeIsAShaped(type) || !api_.mlirShapedTypeHasRank(type) ||
        static_cast<std::intptr_t>(d) >= api_.mlirShapedTypeGetRank(type))
      return problem::kDynamic;
    const auto dimension = static_cast<std::intptr_t>(d);
    if (!api_.mlirShapedTypeIsDynamicDim(type, dimension))
      return api_.mlirShapedTypeGetDimSize(type, dimension);
    const MlirOperation operation = ir_.defining_operation(tensor);
    if (operation.ptr != nullptr)
      return ir_.is(operation, "hal.tensor.import") || ir_.is(operation, "tensor.cast")
                 ? input_extent(ir_.operands(operation).at(0), d)
                 : problem::kDynamic;
    return input_extent(tensor, d);
  }

  std::int64_t input_extent(MlirValue value, std::size_t d) const {
    const auto input = input_of(value);
    if (!input || d >= function_.inputs[*input].shape.size()) return problem::kDynamic;
    return function_.inputs[*input].shape[d];
  }

  // The function's input that a value is, itself or passed on by one call.
  std::optional<std::size_t> input_of(MlirValue value) const {
    if (api_.mlirValueIsAOpResult(value)) return std::nullopt;
    const MlirOperation parent =
        api_.mlirBlockGetParentOperation(api_.mlirBlockArgumentGetOwner(value));
    if (!ir_.is(parent, "util.func")) return std::nullopt;
    const auto number = static_cast<std::size_t>(api_.mlirBlockArgumentGetArgNumber(value));
    if (ir_.symbol(parent) == function_.name)
      return number < ranges_.size() ? std::optional(number) : std::nullopt;
    const auto calls = calls_.find(parent.ptr);
    if (calls == calls_.end() || calls->second.size() != 1) return std::nullopt;
    const std::vector<MlirValue> given = ir_.operands(calls->second.front());
    return number < given.size() ? input_of(given[number]) : std::nullopt;
  }

  Range range(MlirValue value) {
    known_.clear();
    return evaluate(value);
  }

  bool holds(const Demand& demand) {
    const Range found = range(demand.value);
    return demand.most && found.least >= 0 && found.most <= *demand.most;
  }

  // The demands that bound `input`.
  bool all_hold(int input) {
    return std::ranges::all_of(demands_, [&](const Demand& each) {
      return !each.unknown.empty() || !each.inputs.contains(input) || holds(each);
    });
  }

  Range& at(int input) { return ranges_[static_cast<std::size_t>(input)]; }

  // Zero, unless an index begins elsewhere, as in "id - 1".
  void move_to_where_all_hold(int input) {
    if (all_hold(input)) return;
    for (const Demand& each : demands_) {
      if (!each.inputs.contains(input) || !each.most) continue;
      const Range found = range(each.value);
      if (std::isinf(found.least) || std::isinf(found.most)) continue;
      const double by = found.least < 0 ? -found.least : std::min(0.0, *each.most - found.most);
      if (by == 0 || std::isinf(by)) continue;
      const Range before = at(input);
      at(input).least = at(input).most = before.least + by;
      if (all_hold(input)) return;
      at(input) = before;
    }
  }

  problem::InputRange range_of(int input) {
    problem::InputRange found{.input = input};
    double limit = 0;
    for (const Demand& demand : demands_) {
      if (!demand.inputs.contains(input)) continue;
      if (!demand.unknown.empty()) found.unknown = demand.unknown;
      if (demand.most) limit = std::max(limit, *demand.most);
    }
    if (found.unknown.empty() && !all_hold(input))
      found.unknown = "an index whose range hone cannot tell";
    if (!found.unknown.empty()) return found;
    Range& range = at(input);
    const auto bits =
        8 * problem::byte_size(function_.inputs[static_cast<std::size_t>(input)].element);
    limit = std::min(range.least + limit, std::ldexp(1.0, static_cast<int>(bits) - 1) - 1);
    grow(input, range.most, limit);
    found.least = static_cast<std::int64_t>(range.least);
    found.most = static_cast<std::int64_t>(range.most);
    return found;
  }

  // Moves an end of a range as far as all demands hold.
  void grow(int input, double& end, double furthest) {
    double step = std::floor(furthest - end);
    for (; step >= 1; step = std::floor(step / 2)) {
      while (end + step <= furthest) {
        end += step;
        if (all_hold(input)) continue;
        end -= step;
        break;
      }
    }
  }

  Range evaluate(MlirValue value) {
    if (const auto assumed = assumed_.find(value.ptr); assumed != assumed_.end())
      return assumed->second;
    if (const auto known = known_.find(value.ptr); known != known_.end()) return known->second;
    if (depth_ >= kDeepest) return {};
    ++depth_;
    known_[value.ptr] = {};  // of a loop that carries it round
    const MlirOperation operation = ir_.defining_operation(value);
    Range found = operation.ptr == nullptr ? of_block_argument(value) : computed(operation, value);
    --depth_;
    return known_[value.ptr] = std::move(found);
  }

  Range of_block_argument(MlirValue value) {
    const MlirOperation parent =
        api_.mlirBlockGetParentOperation(api_.mlirBlockArgumentGetOwner(value));
    const auto number = static_cast<std::size_t>(api_.mlirBlockArgumentGetArgNumber(value));
    const std::string_view kind = ir_.name(parent);
    const std::vector<MlirValue> operands = ir_.operands(parent);
    if (kind == "util.func") {
      if (ir_.symbol(parent) == function_.name)
        return number < ranges_.size() ? ranges_[number] : Range{};
      const auto calls = calls_.find(parent.ptr);
      if (calls == calls_.end()) return {};
      std::optional<Range> all;
      for (const MlirOperation call : calls->second) {
        const std::vector<MlirValue> given = ir_.operands(call);
        if (number >= given.size()) return {};
        const Range each = evaluate(given[number]);
        all = all ? hull(*all, each) : each;
      }
      return all.value_or(Range{});
    }
    if (kind == "linalg.generic" || kind == "linalg.map")
      return number < operands.size() ? evaluate(operands[number]) : Range{};
    if (kind == "scf.for") {
      if (number > 0)  // carried round: whatever it begins with, and unbounded
        return number + 2 < operands.size()
                   ? Range{-kUnbounded, kUnbounded, evaluate(operands[number + 2]).inputs}
                   : Range{};
      const Range from = evaluate(operands[0]), to = evaluate(operands[1]);
      return {from.least, to.most - 1, hull(from, to).inputs};
    }
    if (kind == "scf.while")
      return number < operands.size()
                 ? Range{-kUnbounded, kUnbounded, evaluate(operands[number]).inputs}
                 : Range{};
    return {};
  }

  Range computed(MlirOperation operation, MlirValue value) {
    const std::string_view kind = ir_.name(operation);
    const std::vector<MlirValue> operands = ir_.operands(operation);
    if (kind == "arith.constant") return of_constant(ir_.attribute(operation, "value"), value);
    if (passes_through(kind) && !operands.empty()) return evaluate(operands[0]);
    if (is_any_of(kind, {"arith.extui", "arith.index_castui"})) {
      Range found = evaluate(operands[0]);
      if (found.least < 0) found = {-kUnbounded, kUnbounded, found.inputs};
      if (is_boolean(operands[0])) found = {0, 1, found.inputs};
      return found;
    }
    if (kind == "linalg.index") return of_index(operation);
    if (kind == "tensor.dim") {
      const auto d = ir_.constant(operands.at(1));
      const std::int64_t extent =
          d ? extent_of(operands[0], static_cast<std::size_t>(*d)) : problem::kDynamic;
      if (extent == problem::kDynamic) return {0, kUnbounded};
      return {static_cast<double>(extent), static_cast<double>(extent)};
    }
    if (is_any_of(kind, {"tensor.insert", "tensor.insert_slice", "tensor.from_elements",
                         "tensor.concat"}))
      return of_all(operands, kind.starts_with("tensor.insert") ? 2 : operands.size());
    if (kind == "arith.cmpi") return compared(operation, operands);
    if (kind == "arith.select") return selected(operands);
    if (kind == "linalg.generic") return of_generic(operation, value);
    if (kind == "iree_linalg_ext.scan") return of_scan(operation, operands);
    if (kind == "scf.if") return of_branches(operation, value);
    if (kind == "scf.for" || kind == "scf.while")
      return {-kUnbounded, kUnbounded, of_all(operands, operands.size()).inputs};
    if (kind == "util.call") return of_call(operation, value);
    if (operands.size() == 2 && kind.starts_with("arith.")) {
      const Range a = evaluate(operands[0]), b = evaluate(operands[1]);
      Range found = of_two(kind, a, b).value_or(Range{});
      found.inputs = hull(a, b).inputs;
      return found;
    }
    if (kind.starts_with("arith.") || kind.starts_with("affine."))
      return {-kUnbounded, kUnbounded, of_all(operands, operands.size()).inputs};
    return {};
  }

  Range of_all(const std::vector<MlirValue>& operands, std::size_t count) {
    std::optional<Range> all;
    for (std::size_t i = 0; i < count && i < operands.size(); ++i) {
      const Range each = evaluate(operands[i]);
      all = all ? hull(*all, each) : each;
    }
    return all.value_or(Range{});
  }

  bool is_boolean(MlirValue value) const {
    const auto type = parse_type(ir_.text(api_.mlirValueGetType(value)));
    return type && type->element == problem::ElementType::kI1;
  }

  Range of_constant(MlirAttribute constant, MlirValue value) const {
    MlirAttribute scalar = constant;
    if (api_.mlirAttributeIsADenseElements(constant)) {
      if (!api_.mlirDenseElementsAttrIsSplat(constant)) return of_elements(constant, value);
      scalar = api_.mlirDenseElementsAttrGetSplatValue(constant);
    }
    if (const auto integer = ir_.integer_value(scalar))
      return {static_cast<double>(*integer), static_cast<double>(*integer)};
    if (!api_.mlirAttributeIsAFloat(scalar)) return {};
    const double real = api_.mlirFloatAttrGetValueDouble(scalar);
    return {real, real};
  }

  Range of_elements(MlirAttribute constant, MlirValue value) const {
    const auto type = parse_type(ir_.text(api_.mlirValueGetType(value)));
    if (!type) return {};
    const void* const data = api_.mlirDenseElementsAttrGetRawData(constant);
    const auto count = static_cast<std::size_t>(problem::element_count(*type));
    if (type->element == problem::ElementType::kI64)
      return ends_of(std::span(static_cast<const std::int64_t*>(data), count));
    if (type->element == problem::ElementType::kI32)
      return ends_of(std::span(static_cast<const std::int32_t*>(data), count));
    return {};
  }

  template <typename Element>
  static Range ends_of(std::span<const Element> elements) {
    if (elements.empty()) return {};
    const auto [least, most] = std::ranges::minmax(elements);
    return {static_cast<double>(least), static_cast<double>(most)};
  }

  Range of_index(MlirOperation operation) const {
    const auto dimension = ir_.integer_value(ir_.attribute(operation, "dim"));
    const MlirOperation generic = api_.mlirOperationGetParentOperation(operation);
    const std::vector<MlirValue> results = ir_.results(generic);
    // A map that is no permutation only widens the range.
    if (!dimension || results.empty()) return {0, kUnbounded};
    const auto loops = loop_extents(generic);
    const auto d = static_cast<std::size_t>(*dimension);
    if (d >= loops.size() || loops[d] == problem::kDynamic) return {0, kUnbounded};
    return {0, static_cast<double>(loops[d] - 1)};
  }

  std::vector<std::int64_t> loop_extents(MlirOperation generic) const {
    std::vector<std::int64_t> extents;
    const std::vector<MlirAttribute> maps = ir_.elements(ir_.attribute(generic, "indexing_maps"));
    const std::vector<MlirValue> operands = ir_.operands(generic);
    for (std::size_t i = 0; i < maps.size() && i < operands.size(); ++i) {
      const MlirAffineMap map = api_.mlirAffineMapAttrGetValue(maps[i]);
      extents.resize(static_cast<std::size_t>(api_.mlirAffineMapGetNumDims(map)),
                     problem::kDynamic);
      for (std::intptr_t r = 0; r < api_.mlirAffineMapGetNumResults(map); ++r) {
        const MlirAffineExpr result = api_.mlirAffineMapGetResult(map, r);
        if (!api_.mlirAffineExprIsADim(result)) continue;
        std::int64_t& extent =
            extents[static_cast<std::size_t>(api_.mlirAffineDimExprGetPosition(result))];
        if (extent == problem::kDynamic)
          extent = extent_of(operands[i], static_cast<std::size_t>(r));
      }
    }
    return extents;
  }

  Range compared(MlirOperation operation, const std::vector<MlirValue>& operands) {
    const Range a = evaluate(operands.at(0)), b = evaluate(operands.at(1));
    Range found = hull(a, b);
    const auto is =
        decided(ir_.integer_value(ir_.attribute(operation, "predicate")).value_or(-1), a, b);
    found.least = is.value_or(false) ? 1 : 0;
    found.most = is.value_or(true) ? 1 : 0;
    return found;
  }

  // The value that a value has its elements of, as it stands before reshapes and copies.
  MlirValue origin(MlirValue value) const {
    for (int i = 0; i < kDeepest; ++i) {
      const MlirOperation operation = ir_.defining_operation(value);
      if (operation.ptr == nullptr) {
        const MlirOperation parent =
            api_.mlirBlockGetParentOperation(api_.mlirBlockArgumentGetOwner(value));
        if (!ir_.is(parent, "linalg.generic")) return value;
        value = ir_.operands(parent).at(
            static_cast<std::size_t>(api_.mlirBlockArgumentGetArgNumber(value)));
      } else if (passes_through(ir_.name(operation)) && !ir_.operands(operation).empty()) {
        value = ir_.operands(operation)[0];
      } else {
        return value;
      }
    }
    return value;
  }

  // The comparison that a truth value is, of a scalar or of each element of a tensor.
  MlirOperation comparison(MlirValue condition) const {
    const MlirValue value = origin(condition);
    const MlirOperation operation = ir_.defining_operation(value);
    if (operation.ptr == nullptr || ir_.is(operation, "arith.cmpi")) return operation;
    if (!ir_.is(operation, "linalg.generic") || ir_.results(operation).size() != 1)
      return MlirOperation{};
    const MlirOperation inner = ir_.defining_operation(yielded(operation, 0));
    return inner.ptr != nullptr && ir_.is(inner, "arith.cmpi") ? inner : MlirOperation{};
  }

  MlirValue yielded(MlirOperation operation, std::size_t result, std::intptr_t region = 0) const {
    const MlirBlock block =
        api_.mlirRegionGetFirstBlock(api_.mlirOperationGetRegion(operation, region));
    return ir_.operands(api_.mlirBlockGetTerminator(block)).at(result);
  }

  // Each arm is taken only where the condition says so: of "i < 0 ? i + n : i" both are indices.
  Range selected(const std::vector<MlirValue>& operands) {
    const Range condition = evaluate(operands.at(0));
    std::optional<Range> all;
    for (const bool holds : {true, false}) {
      if (holds ? condition.most < 1 : condition.least > 0) continue;
      const auto arm = where(operands[0], holds, operands.at(holds ? 1 : 2));
      if (arm) all = all ? hull(*all, *arm) : *arm;
    }
    Range found = all.value_or(Range{});
    found.inputs.insert(condition.inputs.begin(), condition.inputs.end());
    return found;
  }

  std::optional<Range> where(MlirValue condition, bool holds, MlirValue value) {
    const MlirOperation compares = comparison(condition);
    if (compares.ptr == nullptr || assumed_.size() >= kMostAssumptions) return evaluate(value);
    const std::vector<MlirValue> sides = ir_.operands(compares);
    const MlirValue subject = origin(sides.at(0));
    const auto predicate = ir_.integer_value(ir_.attribute(compares, "predicate")).value_or(-1);
    const auto assumed = narrowed(evaluate(subject), predicate, holds, evaluate(sides.at(1)));
    if (!assumed) return std::nullopt;
    const auto before = assumed_;
    assumed_[subject.ptr] = *assumed;
    std::map<const void*, Range> known;
    known.swap(known_);
    Range found = evaluate(value);
    known_.swap(known);
    assumed_ = before;
    return found;
  }

  Range of_generic(MlirOperation operation, MlirValue value) {
    const std::vector<MlirValue> results = ir_.results(operation);
    const auto at = std::ranges::find_if(
        results, [&](MlirValue each) { return api_.mlirValueEqual(each, value); });
    const auto result = static_cast<std::size_t>(at - results.begin());
    const MlirValue yields = yielded(operation, result);
    const std::vector<MlirAttribute> kinds =
        ir_.elements(ir_.attribute(operation, "iterator_types"));
    double terms = 1;
    bool reduces = false;
    const std::vector<std::int64_t> extents = loop_extents(operation);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (ir_.text(kinds[i]).find("reduction") == std::string::npos) continue;
      reduces = true;
      terms = i < extents.size() && extents[i] != problem::kDynamic
                  ? terms * static_cast<double>(extents[i])
                  : kUnbounded;
    }
    return reduces ? accumulated(yields, terms) : evaluate(yields);
  }

  // `yields` adds `terms` values to its block's last argument, or selects among them.
  Range accumulated(MlirValue yields, double terms) {
    const MlirOperation last = ir_.defining_operation(yields);
    if (last.ptr == nullptr) return evaluate(yields);
    const std::string_view kind = ir_.name(last);
    const std::vector<MlirValue> operands = ir_.operands(last);
    Range found = evaluate(yields);
    if (is_any_of(kind, {"arith.addi", "arith.addf"}) && operands.size() == 2) {
      const Range sum = of_all(operands, 2);
      // Either operand may be the sum so far.
      found.least = times(terms + 1, std::min(sum.least, 0.0));
      found.most = times(terms + 1, std::max(sum.most, 0.0));
      const std::optional<Range> term = term_beside_zero(operands);
      if (term) found = {times(terms, term->least), times(terms, term->most), found.inputs};
    } else if (!is_any_of(kind, {"arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
                                 "arith.andi", "arith.ori"})) {
      found = {-kUnbounded, kUnbounded, found.inputs};
    }
    return found;
  }

  // The term of a sum that begins at zero.
  std::optional<Range> term_beside_zero(const std::vector<MlirValue>& operands) {
    for (const std::size_t sum : {std::size_t{1}, std::size_t{0}}) {
      const Range begins = evaluate(operands[sum]);
      if (!api_.mlirValueIsAOpResult(operands[sum]) && begins.least == 0 && begins.most == 0 &&
          begins.inputs.empty())
        return evaluate(operands[1 - sum]);
    }
    return std::nullopt;
  }

  Range of_scan(MlirOperation operation, const std::vector<MlirValue>& operands) {
    const Range input = evaluate(operands.at(0));
    const MlirOperation last = ir_.defining_operation(yielded(operation, 0));
    const auto d = ir_.integer_value(ir_.attribute(operation, "dimension"));
    const std::int64_t extent =
        d ? extent_of(operands[0], static_cast<std::size_t>(*d)) : problem::kDynamic;
    if (last.ptr == nullptr || !is_any_of(ir_.name(last), {"arith.addi", "arith.addf"}) ||
        extent == problem::kDynamic)
      return {-kUnbounded, kUnbounded, input.inputs};
    const auto terms = static_cast<double>(extent);
    return {std::min(input.least, times(terms, input.least)),
            std::max(input.most, times(terms, input.most)), input.inputs};
  }

  Range of_branches(MlirOperation operation, MlirValue value) {
    const std::size_t result = result_number(operation, value);
    return hull(evaluate(yielded(operation, result, 0)), evaluate(yielded(operation, result, 1)));
  }

  std::size_t result_number(MlirOperation operation, MlirValue value) const {
    const std::vector<MlirValue> results = ir_.results(operation);
    std::size_t number = 0;
    while (number + 1 < results.size() && !api_.mlirValueEqual(results[number], value)) ++number;
    return number;
  }

  Range of_call(MlirOperation operation, MlirValue value) {
    const auto found = functions_.find(ir_.leaf_symbol(ir_.attribute(operation, "callee")));
    if (found == functions_.end()) return {};
    const MlirOperation returns =
        ir_.find(found->second, [&](MlirOperation each) { return ir_.is(each, "util.return"); });
    if (returns.ptr == nullptr) return {};
    return evaluate(ir_.operands(returns).at(result_number(operation, value)));
  }

  const Ir& ir_;
  const CApi& api_;
  const problem::Function& function_;
  std::vector<Range> ranges_;  // by input
  std::map<std::string, MlirOperation> functions_;
  std::map<const void*, std::vector<MlirOperation>> calls_;  // by the function called
  std::set<const void*> reached_;
  std::vector<Demand> demands_;
  std::map<const void*, Range> known_;
  std::map<const void*, Range> assumed_;
  int depth_ = 0;
};

}  // namespace

std::vector<problem::InputRange> argument_ranges(const Ir& ir, const OwnedModule& module,
                                                 const problem::Function& function) {
  return Reader(ir, module, function).read();
}

}  // namespace hone::iree
