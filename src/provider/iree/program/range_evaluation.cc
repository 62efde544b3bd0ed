#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/ranges.h"
#include "provider/iree/program/argument_ranges.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {

namespace {

// Deeper chains are as good as unknown; one level takes a few hundred bytes of stack.
constexpr int kDeepest = 2000;
constexpr int kMostAssumptions = 4;

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

class RangeReader {
 public:
  RangeReader(const Ir& ir, const ReachedOperations& reached, const std::string& function,
              const std::vector<Range>& inputs)
      : ir_(ir), api_(ir.api()), reached_(reached), function_(function), inputs_(inputs) {}

  Range evaluate(MlirValue value) {
    if (const auto assumed = assumed_.find(value); assumed != assumed_.end())
      return assumed->second;
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    if (depth_ >= kDeepest) return {};
    ++depth_;
    known_[value] = {};  // of a loop that carries it round
    const MlirOperation operation = ir_.defining_operation(value);
    Range found = !operation ? of_block_argument(value) : computed(operation, value);
    --depth_;
    return known_[value] = std::move(found);
  }

 private:
  Range of_block_argument(MlirValue value) {
    const auto [parent, number] = ir_.argument(value).value();
    const std::string_view kind = ir_.name(parent);
    const std::vector<MlirValue> operands = ir_.operands(parent);
    if (kind == "util.func") {
      if (ir_.symbol(parent) == function_)
        return number < inputs_.size() ? inputs_[number] : Range{};
      std::optional<Range> all;
      for (const MlirOperation call : reached_.calls_of(parent)) {
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
        return number + 2 < operands.size() ? Range{.inputs = evaluate(operands[number + 2]).inputs}
                                            : Range{};
      const Range from = evaluate(operands[0]), to = evaluate(operands[1]);
      return {from.least, to.most - 1, hull(from, to).inputs};
    }
    if (kind == "scf.while")
      return number < operands.size() ? Range{.inputs = evaluate(operands[number]).inputs}
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
      if (found.least < 0) found = {.inputs = found.inputs};
      if (is_boolean(operands[0])) found = {0, 1, found.inputs};
      return found;
    }
    if (kind == "linalg.index") return of_index(operation);
    if (kind == "tensor.dim") {
      const auto d = ir_.constant(operands.at(1));
      const std::int64_t extent =
          d ? reached_.extent_of(operands[0], to_index(*d)) : problem::kDynamic;
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
      return {.inputs = of_all(operands, operands.size()).inputs};
    if (kind == "util.call") return of_call(operation, value);
    if (operands.size() == 2 && kind.starts_with("arith.")) {
      const Range a = evaluate(operands[0]), b = evaluate(operands[1]);
      Range found = range_of_two(kind, a, b).value_or(Range{});
      found.inputs = hull(a, b).inputs;
      return found;
    }
    if (kind.starts_with("arith.") || kind.starts_with("affine."))
      return {.inputs = of_all(operands, operands.size()).inputs};
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
    const auto type = ir_.type(value);
    return type && type->element == problem::ElementType::kI1;
  }

  Range of_constant(MlirAttribute constant, MlirValue value) const {
    if (!ir_.one_element(constant)) return of_elements(constant, value);
    const auto number = ir_.number(constant);
    return number ? Range{*number, *number} : Range{};
  }

  Range of_elements(MlirAttribute constant, MlirValue value) const {
    const auto type = ir_.type(value);
    if (!type) return {};
    const void* const data = api_.mlirDenseElementsAttrGetRawData(constant);
    const auto count = to_index(problem::element_count(*type));
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
    const auto loops = reached_.loop_extents(generic);
    const auto d = to_index(*dimension);
    if (d >= loops.size() || loops[d] == problem::kDynamic) return {0, kUnbounded};
    return {0, static_cast<double>(loops[d] - 1)};
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
      if (!operation) {
        const auto [parent, number] = ir_.argument(value).value();
        if (!ir_.is(parent, "linalg.generic")) return value;
        value = ir_.operands(parent).at(number);
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
    if (!operation || ir_.is(operation, "arith.cmpi")) return operation;
    if (!ir_.is(operation, "linalg.generic") || ir_.results(operation).size() != 1)
      return MlirOperation{};
    const MlirOperation inner = ir_.defining_operation(ir_.yielded(operation).at(0));
    return ir_.is(inner, "arith.cmpi") ? inner : MlirOperation{};
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
    if (!compares || assumed_.size() >= kMostAssumptions) return evaluate(value);
    const std::vector<MlirValue> sides = ir_.operands(compares);
    const MlirValue subject = origin(sides.at(0));
    const auto predicate = ir_.integer_value(ir_.attribute(compares, "predicate")).value_or(-1);
    const auto assumed = narrowed(evaluate(subject), predicate, holds, evaluate(sides.at(1)));
    if (!assumed) return std::nullopt;
    const auto before = assumed_;
    assumed_[subject] = *assumed;
    std::map<MlirValue, Range> known;
    known.swap(known_);
    Range found = evaluate(value);
    known_.swap(known);
    assumed_ = before;
    return found;
  }

  Range of_generic(MlirOperation operation, MlirValue value) {
    const MlirValue yields = ir_.yielded(operation).at(result_number(operation, value));
    const std::vector<MlirAttribute> kinds =
        ir_.elements(ir_.attribute(operation, "iterator_types"));
    double terms = 1;
    bool reduces = false;
    const std::vector<std::int64_t> extents = reached_.loop_extents(operation);
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
    if (!last) return evaluate(yields);
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
      found = {.inputs = found.inputs};
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
    const MlirOperation last = ir_.defining_operation(ir_.yielded(operation).at(0));
    const auto d = ir_.integer_value(ir_.attribute(operation, "dimension"));
    const std::int64_t extent =
        d ? reached_.extent_of(operands[0], to_index(*d)) : problem::kDynamic;
    if (!last || !is_any_of(ir_.name(last), {"arith.addi", "arith.addf"}) ||
        extent == problem::kDynamic)
      return {.inputs = input.inputs};
    const auto terms = static_cast<double>(extent);
    return {std::min(input.least, times(terms, input.least)),
            std::max(input.most, times(terms, input.most)), input.inputs};
  }

  Range of_branches(MlirOperation operation, MlirValue value) {
    const std::size_t result = result_number(operation, value);
    return hull(evaluate(ir_.yielded(operation, 0).at(result)),
                evaluate(ir_.yielded(operation, 1).at(result)));
  }

  std::size_t result_number(MlirOperation operation, MlirValue value) const {
    const std::vector<MlirValue> results = ir_.results(operation);
    std::size_t number = 0;
    while (number + 1 < results.size() && results[number] != value) ++number;
    return number;
  }

  Range of_call(MlirOperation operation, MlirValue value) {
    const MlirOperation called = reached_.callee(operation);
    if (!called) return {};
    const MlirOperation returns = ir_.find(called, "util.return");
    if (!returns) return {};
    return evaluate(ir_.operands(returns).at(result_number(operation, value)));
  }

  const Ir& ir_;
  const CApi& api_;
  const ReachedOperations& reached_;
  const std::string& function_;
  const std::vector<Range>& inputs_;
  std::map<MlirValue, Range> known_;
  std::map<MlirValue, Range> assumed_;
  int depth_ = 0;
};

}  // namespace

Range range_in(const Ir& ir, const ReachedOperations& reached, const std::string& function,
               const std::vector<Range>& inputs, MlirValue value) {
  return RangeReader(ir, reached, function, inputs).evaluate(value);
}

ReachedOperations::ReachedOperations(const Ir& ir, const OwnedModule& module,
                                     const problem::Function& function)
    : ir_(ir), function_(function) {
  for (const MlirOperation each : ir.children(module.get(), "util.func"))
    functions_.emplace(ir.symbol(each), each);
  if (const auto found = functions_.find(function.name); found != functions_.end())
    reach(found->second);
}

void ReachedOperations::reach(MlirOperation function) {
  if (!reached_.insert(function).second) return;
  ir_.walk(function, [&](MlirOperation operation) {
    if (!ir_.is(operation, "util.call")) {
      all_.push_back(operation);
      return;
    }
    const MlirOperation called = callee(operation);
    if (!called) return;
    calls_[called].push_back(operation);
    reach(called);
  });
}

MlirOperation ReachedOperations::callee(MlirOperation call) const {
  const auto found = functions_.find(ir_.leaf_symbol(ir_.attribute(call, "callee")));
  return found == functions_.end() ? MlirOperation{} : found->second;
}

std::vector<MlirOperation> ReachedOperations::calls_of(MlirOperation function) const {
  const auto found = calls_.find(function);
  return found == calls_.end() ? std::vector<MlirOperation>() : found->second;
}

std::int64_t ReachedOperations::extent_of(MlirValue tensor, std::size_t d) const {
  const MlirType type = ir_.api().mlirValueGetType(tensor);
  if (!ir_.api().mlirTypeIsAShaped(type) || !ir_.api().mlirShapedTypeHasRank(type) ||
      static_cast<std::intptr_t>(d) >= ir_.api().mlirShapedTypeGetRank(type))
    return problem::kDynamic;
  const auto dimension = static_cast<std::intptr_t>(d);
  if (!ir_.api().mlirShapedTypeIsDynamicDim(type, dimension))
    return ir_.api().mlirShapedTypeGetDimSize(type, dimension);
  const MlirOperation operation = ir_.defining_operation(tensor);
  if (operation)
    return ir_.is(operation, "hal.tensor.import") || ir_.is(operation, "tensor.cast")
               ? input_extent(ir_.operands(operation).at(0), d)
               : problem::kDynamic;
  return input_extent(tensor, d);
}

std::int64_t ReachedOperations::input_extent(MlirValue value, std::size_t d) const {
  const auto input = input_of(value);
  if (!input || d >= function_.inputs[*input].shape.size()) return problem::kDynamic;
  return function_.inputs[*input].shape[d];
}

std::optional<std::size_t> ReachedOperations::input_of(MlirValue value) const {
  const auto argument = ir_.argument(value);
  if (!argument || !ir_.is(argument->of, "util.func")) return std::nullopt;
  const auto [parent, number] = *argument;
  if (ir_.symbol(parent) == function_.name)
    return number < function_.inputs.size() ? std::optional(number) : std::nullopt;
  const auto calls = calls_.find(parent);
  if (calls == calls_.end() || calls->second.size() != 1) return std::nullopt;
  const std::vector<MlirValue> given = ir_.operands(calls->second.front());
  return number < given.size() ? input_of(given[number]) : std::nullopt;
}

std::vector<std::int64_t> ReachedOperations::loop_extents(MlirOperation generic) const {
  std::vector<std::int64_t> extents;
  const std::vector<IndexingMap> maps = indexing_maps(ir_, generic);
  const std::vector<MlirValue> operands = ir_.operands(generic);
  for (std::size_t i = 0; i < maps.size() && i < operands.size(); ++i) {
    extents.resize(maps[i].loops, problem::kDynamic);
    for (std::size_t r = 0; r < maps[i].results.size(); ++r) {
      const int loop = maps[i].results[r];
      if (loop < 0) continue;
      std::int64_t& extent = extents[to_index(loop)];
      if (extent == problem::kDynamic) extent = extent_of(operands[i], r);
    }
  }
  return extents;
}

}  // namespace hone::iree
