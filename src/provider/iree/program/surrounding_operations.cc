#include "provider/iree/program/surrounding_operations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

// A nest and the tensors it walks: inputs, outputs, and the results that the outputs become.
struct Nest {
  MlirOperation operation;
  problem::Operation described;
  std::vector<int> root_loops;
};

class DimensionMap {
 public:
  explicit DimensionMap(const Ir& ir) : ir_(ir) {}

  // Learns loops of the nest from the known dimensions of its tensors and records those of its own
  // loops. Returns whether anything changed.
  bool follow(Nest& nest) {
    const bool learned = each(nest, [&](const Place& place, int& loop) {
      const auto known = loops_.find(place);
      if (loop >= 0 || known == loops_.end()) return false;
      loop = known->second;
      return true;
    });
    const bool told = each(nest, [&](const Place& place, int& loop) {
      return loop >= 0 && loops_.emplace(place, loop).second;
    });
    return learned || told;
  }

 private:
  using Place = std::pair<MlirValue, std::size_t>;  // of a tensor, a dimension

  template <typename Visit>
  bool each(Nest& nest, Visit visit) const {
    bool changed = false;
    const std::vector<MlirValue> operands = ir_.operands(nest.operation);
    const std::vector<MlirValue> results = ir_.results(nest.operation);
    const auto& described = nest.described.operands;
    const std::size_t inputs = described.size() - std::min(described.size(), results.size());
    const auto walk = [&](MlirValue value, const problem::Operand& operand) {
      const MlirOperation source = ir_.defining_operation(value);
      if (ir_.is(source, "tensor.empty")) return;
      for (std::size_t d = 0; d < operand.loops.size(); ++d)
        if (operand.loops[d] >= 0)
          changed |=
              visit(Place{value, d}, nest.root_loops[static_cast<std::size_t>(operand.loops[d])]);
    };
    for (std::size_t i = 0; i < described.size() && i < operands.size(); ++i) {
      walk(operands[i], described[i]);
      if (i >= inputs) walk(results[i - inputs], described[i]);
    }
    return changed;
  }

  const Ir& ir_;
  std::map<Place, int> loops_;
};

}  // namespace

std::vector<FoundSurrounding> find_surrounding(const Ir& ir, MlirOperation function,
                                               MlirOperation root) {
  std::vector<FoundSurrounding> found;
  std::vector<Nest> nests;
  const auto nest_of = [&](MlirOperation operation) {
    auto described = describe_operation(ir, operation);
    const std::size_t loops = described ? described->loops.size() : 0;
    return described ? std::optional(Nest{operation, std::move(*described), std::vector(loops, -1)})
                     : std::nullopt;
  };
  auto root_nest = nest_of(root);
  if (!root_nest) return {};
  for (std::size_t i = 0; i < root_nest->root_loops.size(); ++i)
    root_nest->root_loops[i] = static_cast<int>(i);
  nests.push_back(std::move(*root_nest));

  const std::vector<MlirOperation> structured = structured_operations(ir, function);
  const auto add = [&](MlirOperation operation, int from, int operand, bool feeds) {
    if (std::ranges::find(nests, operation, &Nest::operation) != nests.end()) return;
    auto nest = nest_of(operation);
    if (!nest) return;
    std::vector<problem::Loop> loops;
    for (const problem::Loop& loop : nest->described.loops)
      loops.push_back({loop.reduction, loop.size});
    found.push_back(
        {operation, {std::string(ir.name(operation)), from, operand, feeds, loops, {}}});
    nests.push_back(std::move(*nest));
  };
  // nests[i + 1] is found[i]; both grow while they are walked. What feeds the root comes first.
  for (const bool readers : {false, true})
    for (std::size_t i = 0; i < nests.size(); ++i) {
      const int from = static_cast<int>(i) - 1;
      const bool feeds = i == 0 || found[i - 1].what.feeds_root;
      const MlirOperation operation = nests[i].operation;
      const std::vector<MlirValue> operands = ir.operands(operation);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const MlirOperation source = ir.defining_operation(operands[k]);
        if (std::ranges::count(structured, source) > 0)
          add(source, from, static_cast<int>(k), feeds && !readers);
      }
      if (!readers) continue;
      for (const MlirOperation each : structured)
        if (ir.reads(each, operation)) add(each, from, -1, false);
    }

  DimensionMap dimensions(ir);
  for (bool changed = true; changed;) {
    changed = false;
    for (Nest& nest : nests) changed |= dimensions.follow(nest);
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i].what.root_loops = nests[i + 1].root_loops;
  return found;
}

}  // namespace hone::iree
