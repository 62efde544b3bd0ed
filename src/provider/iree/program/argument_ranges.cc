#include "provider/iree/program/argument_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/ranges.h"

namespace hone::iree {

namespace {

// The demand of an access on a value: it lies within 0 .. most, or hone must not invent it.
struct Demand {
  MlirValue value;
  std::optional<double> most = {};  // nothing: not known
  std::string_view unknown = {};    // what it is, where no range would do
  std::set<int> inputs = {};        // that it may come of
};

class DemandReader {
 public:
  DemandReader(const Ir& ir, const ReachedOperations& reached) : ir_(ir), reached_(reached) {}

  std::vector<Demand> read() {
    for (const MlirOperation operation : reached_.all()) add_demands(operation);
    return std::move(demands_);
  }

 private:
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
      const auto most = last_index(tensor, to_index(d), 1);
      if (!most) demand.most.reset();
      if (most && demand.most) demand.most = std::min(*demand.most, *most);
    }
    demands_.push_back(demand);
  }

  // The access to a piece of `size` elements in dimension `d`.
  std::optional<double> last_index(MlirValue tensor, std::size_t d, std::int64_t size) const {
    const std::int64_t extent = reached_.extent_of(tensor, d);
    if (extent == problem::kDynamic) return std::nullopt;
    return static_cast<double>(extent - size);
  }

  const Ir& ir_;
  const ReachedOperations& reached_;
  std::vector<Demand> demands_;
};

std::vector<Demand> access_demands(const Ir& ir, const ReachedOperations& reached) {
  return DemandReader(ir, reached).read();
}

class RangeSearch {
 public:
  RangeSearch(const Ir& ir, const OwnedModule& module, const problem::Function& function)
      : ir_(ir),
        function_(function),
        reached_(ir, module, function),
        demands_(access_demands(ir, reached_)),
        ranges_(function.inputs.size()) {}

  std::vector<problem::InputRange> read() {
    std::vector<problem::InputRange> all;
    const std::set<int> inputs = find_inputs();
    for (const int input : inputs) at(input) = {0, 0, {input}};
    // Start each input at a point where every access is within its tensor, then grow its range by
    // itself.
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

  Range range(MlirValue value) const {
    return range_in(ir_, reached_, function_.name, ranges_, value);
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

  Range& at(int input) { return ranges_[to_index(input)]; }

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
    const auto bits = 8 * problem::byte_size(function_.inputs[to_index(input)].element);
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

  const Ir& ir_;
  const problem::Function& function_;
  ReachedOperations reached_;
  std::vector<Demand> demands_;
  std::vector<Range> ranges_;  // by input
};

}  // namespace

std::vector<problem::InputRange> argument_ranges(const Ir& ir, const OwnedModule& module,
                                                 const problem::Function& function) {
  return RangeSearch(ir, module, function).read();
}

}  // namespace hone::iree
