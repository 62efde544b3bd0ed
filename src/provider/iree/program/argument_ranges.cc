#include "provider/iree/program/argument_ranges.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "provider/iree/program/access_demands.h"
#include "provider/iree/program/range_evaluation.h"

namespace hone::iree {
namespace {

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
