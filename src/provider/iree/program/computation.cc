#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/views.h"

namespace hone::iree {
namespace {

using problem::Computation;
using problem::ElementType;
using problem::ElementValue;

// Operations whose result elements are elements of their first operand.
bool moves_elements(std::string_view kind) {
  return is_any_of(
      kind, {"tensor.collapse_shape", "tensor.expand_shape", "tensor.cast", "tensor.extract_slice",
             "tensor.extract", "tensor.reshape", "tensor.bitcast", "iree_tensor_ext.bitcast",
             "iree_linalg_ext.unpack", "linalg.unpack", "iree_linalg_ext.gather"});
}

// Operations whose result elements each come from one of their operands.
bool merges_elements(std::string_view kind) {
  return is_any_of(kind,
                   {"tensor.insert_slice", "tensor.concat", "tensor.insert", "iree_linalg_ext.pack",
                    "linalg.pack", "iree_linalg_ext.scatter", "iree_linalg_ext.im2col",
                    "iree_linalg_ext.topk", "iree_linalg_ext.sort"});
}

class ComputationReader {
 public:
  ComputationReader(const Ir& ir, MlirOperation root, const Views& views)
      : ir_(ir), root_(root), views_(views) {}

  Computation read(MlirOperation function) {
    ir_.walk(function, [&](MlirOperation operation) {
      if (!is_store(ir_.name(operation))) return;
      const std::vector<MlirValue> operands = ir_.operands(operation);
      computation_.outputs.push_back({binding_of(operands.at(1)), value_of(operands.at(0))});
    });
    return std::move(computation_);
  }

 private:
  int add(ElementValue value) {
    computation_.values.push_back(std::move(value));
    return static_cast<int>(computation_.values.size()) - 1;
  }

  ElementValue of_kind(ElementValue::Kind kind, MlirValue result) const {
    ElementValue value;
    value.kind = kind;
    if (const auto type = ir_.type(result)) value.type = type->element;
    return value;
  }

  int binding_of(MlirValue buffer) const {
    MlirOperation operation = ir_.defining_operation(buffer);
    while (operation && !ir_.is(operation, "hal.interface.binding.subspan")) {
      const std::vector<MlirValue> operands = ir_.operands(operation);
      operation = operands.empty() ? MlirOperation{} : ir_.defining_operation(operands.front());
    }
    return !operation ? -1 : views_.of(operation);
  }

  int value_of(MlirValue value) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    const MlirOperation operation = ir_.defining_operation(value);
    const int read =
        !operation ? add(of_kind(ElementValue::Kind::kUnknown, value)) : computed(operation, value);
    known_[value] = read;
    return read;
  }

  int computed(MlirOperation operation, MlirValue value) {
    const std::string_view name = ir_.name(operation);
    const std::vector<MlirValue> operands = ir_.operands(operation);
    if (name == "arith.constant") return constant(operation, value);
    if (is_load(name)) {
      ElementValue input = of_kind(ElementValue::Kind::kInput, value);
      input.binding = binding_of(operands.at(0));
      return add(std::move(input));
    }
    if (name == "linalg.fill" || (moves_elements(name) && !operands.empty()))
      return value_of(operands.at(0));
    if (merges_elements(name)) return one_of(operands, value);
    if (name == "tensor.pad") return padded(operation, operands.at(0), value);
    if (name == "linalg.softmax" || name.find("attention") != std::string_view::npos)
      return named(operation, value);
    if (name.starts_with("linalg.") && name != "linalg.index") return nest(operation, value);
    return scalar(operation, value);
  }

  int constant(MlirOperation operation, MlirValue value) {
    const auto number = ir_.number(ir_.attribute(operation, "value"));
    ElementValue read =
        of_kind(number ? ElementValue::Kind::kConstant : ElementValue::Kind::kUnknown, value);
    if (number) read.constant = *number;
    return add(std::move(read));
  }

  int one_of(const std::vector<MlirValue>& operands, MlirValue value) {
    ElementValue merged = of_kind(ElementValue::Kind::kOneOf, value);
    for (const MlirValue operand : operands) {
      const auto type = ir_.type(operand);
      // Offsets and sizes are indices; an empty tensor's elements are all replaced.
      if (!type || type->element != merged.type || is_empty(operand)) continue;
      merged.operands.push_back(value_of(operand));
    }
    return add(std::move(merged));
  }

  bool is_empty(MlirValue value) const {
    return ir_.is(ir_.defining_operation(value), "tensor.empty");
  }

  int padded(MlirOperation operation, MlirValue source, MlirValue value) {
    ElementValue merged = of_kind(ElementValue::Kind::kOneOf, value);
    merged.operands.push_back(value_of(source));
    for (const MlirOperation yield : ir_.children(operation, "tensor.yield"))
      merged.operands.push_back(value_of(ir_.operands(yield).at(0)));
    return add(std::move(merged));
  }

  // Operations without a body that says what they do.
  int named(MlirOperation operation, MlirValue value) {
    ElementValue read =
        of_kind(ir_.is(operation, "linalg.softmax") ? ElementValue::Kind::kSoftmax
                                                    : ElementValue::Kind::kAttention,
                value);
    read.root = operation == root_;
    const auto described = describe_operation(ir_, operation);
    const std::vector<MlirValue> operands = ir_.operands(operation);
    if (!described || described->operands.size() > operands.size()) {
      read.kind = ElementValue::Kind::kUnknown;
      read.operation = ir_.name(operation);
      return add(std::move(read));
    }
    for (std::size_t i = 0; i < described->operands.size(); ++i)
      if (!described->operands[i].output) read.operands.push_back(value_of(operands[i]));
    const auto reduced_in = [&](std::size_t operand) {
      std::int64_t size = 1;
      for (const int loop : described->operands.at(operand).loops)
        if (loop >= 0 && described->loops[to_index(loop)].reduction)
          size *= std::max<std::int64_t>(1, described->loops[to_index(loop)].size);
      return size;
    };
    if (read.kind == ElementValue::Kind::kSoftmax) {
      read.terms = reduced_in(0);
    } else {
      read.inner_terms = reduced_in(0);
      read.terms = reduced_in(2);
    }
    return add(std::move(read));
  }

  // A loop nest: its body, once.
  int nest(MlirOperation operation, MlirValue value) {
    const std::vector<MlirValue> operands = ir_.operands(operation),
                                 results = ir_.results(operation);
    const auto described = describe_operation(ir_, operation);
    const std::vector<MlirValue> arguments = ir_.arguments(operation),
                                 yields = ir_.yielded(operation);
    const auto result = to_index(std::ranges::find(results, value) - results.begin());
    if (!described || yields.empty() || result == results.size())
      return unknown(operation, operands, value);
    const std::int64_t terms = iterations(*described, /*reduction=*/true);
    const bool sums = reduces(*described);

    std::vector<MlirValue> accumulators;
    for (std::size_t i = 0; i < std::min(arguments.size(), operands.size()); ++i) {
      const MlirValue argument = arguments[i];
      if (sums && i < described->operands.size() && described->operands[i].output) {
        accumulators.push_back(argument);
        continue;
      }
      if (is_empty(operands[i])) continue;
      ElementValue element = of_kind(ElementValue::Kind::kElement, argument);
      element.operands = {value_of(operands[i])};
      known_[argument] = add(std::move(element));
    }
    const MlirValue yielded = yields.at(result);
    int read = -1;
    if (!sums) {
      // A body that is shared by several results is read once; each result is a new element.
      ElementValue element = of_kind(ElementValue::Kind::kElement, yielded);
      element.operands = {value_of(yielded)};
      read = add(std::move(element));
    } else {
      const MlirValue start = operands.at(operands.size() - results.size() + result);
      read = reduction(accumulators, result, yielded, terms, start);
      if (read < 0) return unknown(operation, operands, value, terms);
    }
    computation_.values[to_index(read)].root = operation == root_;
    return read;
  }

  // `seen`: what has been looked at, since a body may use one value many times.
  bool uses_any(MlirValue value, const std::vector<MlirValue>& wanted,
                std::set<MlirValue>& seen) const {
    if (std::ranges::count(wanted, value) > 0) return true;
    const MlirOperation operation = ir_.defining_operation(value);
    if (!operation || !seen.insert(value).second) return false;
    return std::ranges::any_of(ir_.operands(operation),
                               [&](MlirValue operand) { return uses_any(operand, wanted, seen); });
  }

  // `yielded` = combiner(accumulator, term); -1 when it is of another form.
  int reduction(const std::vector<MlirValue>& accumulators, std::size_t result, MlirValue yielded,
                std::int64_t terms, MlirValue start) {
    const MlirOperation combiner = ir_.defining_operation(yielded);
    if (!combiner || result >= accumulators.size()) return -1;
    const std::vector<MlirValue> both = ir_.operands(combiner);
    if (both.size() != 2) return -1;
    const MlirValue accumulator = accumulators[result];
    const std::size_t term = both[0] == accumulator ? 1 : 0;
    std::set<MlirValue> seen;
    if (both[1 - term] != accumulator || uses_any(both[term], accumulators, seen)) return -1;
    ElementValue reduced = of_kind(ElementValue::Kind::kReduction, yielded);
    reduced.operation = ir_.name(combiner);
    reduced.operands = {value_of(both[term])};
    reduced.operands.push_back(value_of(start));
    reduced.terms = terms;
    return add(std::move(reduced));
  }

  int scalar(MlirOperation operation, MlirValue value) {
    ElementValue computed = of_kind(ElementValue::Kind::kOperation, value);
    computed.operation = ir_.name(operation);
    if (!problem::is_scalar_operation(computed.operation.name()))
      return unknown(operation, ir_.operands(operation), value);
    for (const MlirValue operand : ir_.operands(operation))
      computed.operands.push_back(value_of(operand));
    if (computed.operation.is(problem::ScalarKind::kSelection) && computed.operands.size() == 3) {
      // The condition follows from values that a correct kernel computes too, so only the choice is
      // kept.
      computed.kind = ElementValue::Kind::kOneOf;
      computed.operands.erase(computed.operands.begin());
      note_infinities(computed.operands);
    }
    return add(std::move(computed));
  }

  void note_infinities(const std::vector<int>& values) {
    for (const int value : values) {
      const ElementValue& read = computation_.values[to_index(value)];
      if (read.kind == ElementValue::Kind::kConstant && !std::isfinite(read.constant))
        computation_.has_infinite_constants = true;
    }
  }

  int unknown(MlirOperation operation, const std::vector<MlirValue>& operands, MlirValue value,
              std::int64_t terms = 1) {
    ElementValue read = of_kind(ElementValue::Kind::kUnknown, value);
    read.operation = in_words(ir_, operation);
    read.root = operation == root_;
    read.terms = terms;
    for (const MlirValue operand : operands)
      if (!is_empty(operand)) read.operands.push_back(value_of(operand));
    return add(std::move(read));
  }

  const Ir& ir_;
  MlirOperation root_;
  const Views& views_;
  Computation computation_;
  std::map<MlirValue, int> known_;  // tensors, and what bodies compute
};

}  // namespace

problem::Computation read_computation(const Ir& ir, MlirOperation function, MlirOperation root,
                                      const Views& views) {
  return ComputationReader(ir, root, views).read(function);
}

}  // namespace hone::iree
