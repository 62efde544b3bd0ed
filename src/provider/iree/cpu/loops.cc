#include "provider/iree/cpu/loops.h"

#include <algorithm>
#include <numeric>

namespace hone::iree {
namespace {

std::string letter_of(problem::LoopRole role) {
  return role == problem::LoopRole::kBatch ? "b" : std::string(name_of(role));
}

Status check_operands(const problem::Operation& operation) {
  const auto outputs = std::ranges::count_if(
      operation.operands, [](const problem::Operand& each) { return each.output; });
  if (operation.operands.size() != 3 || outputs != 1 || !operation.operands.back().output)
    return input_error(
        "{} has {} operands, {} of them outputs; a contraction has two inputs and "
        "one output",
        describe(operation), operation.operands.size(), outputs);
  for (const problem::Operand& operand : operation.operands)
    for (const int loop : operand.loops)
      if (loop < 0 || loop >= static_cast<int>(operation.loops.size()))
        return input_error(
            "an operand of {} is indexed by more than a loop; only projected "
            "permutations can be tiled as a contraction",
            describe(operation));
  if (operation.operands.back().loops.empty())
    return input_error("{} has a scalar result: there is no loop to tile in parallel",
                       describe(operation));
  return {};
}

// The m loops, then the n loops, in the places that both have; empty where that is how they are.
std::vector<int> outer_product_order(const problem::Operation& operation) {
  std::vector<int> order, rows = loops_with(operation, problem::LoopRole::kM);
  const std::vector<int> columns = loops_with(operation, problem::LoopRole::kN);
  if (rows.empty() || columns.empty() || rows.back() < columns.front()) return {};
  rows.insert(rows.end(), columns.begin(), columns.end());
  auto next = rows.begin();
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const problem::LoopRole role = operation.loops[i].role;
    const bool either = role == problem::LoopRole::kM || role == problem::LoopRole::kN;
    order.push_back(either ? *next++ : static_cast<int>(i));
  }
  return order;
}

}  // namespace

Result<ContractionLoops> contraction_loops(const problem::Operation& operation) {
  if (!is_contraction(operation.kind))
    return input_error("{} is not a contraction", describe(operation));
  if (is_dynamic(operation))
    return input_error("{} has a loop whose size is known only at run time", describe(operation));
  HONE_TRY(check_operands(operation));

  ContractionLoops result;
  for (std::size_t i = 0; i < operation.loops.size(); ++i) {
    const problem::Loop& loop = operation.loops[i];
    const std::vector<int> same = loops_with(operation, loop.role);
    std::string label = letter_of(loop.role);
    if (same.size() > 1)
      label += std::to_string(std::ranges::find(same, static_cast<int>(i)) - same.begin());
    result.loops.push_back({std::move(label), loop.size, loop.role, loop.reduction});
    (loop.reduction ? result.reduction : result.parallel).push_back(static_cast<int>(i));
  }
  if (result.reduction.empty()) return input_error("{} has no k loop", describe(operation));
  const problem::Operand& output = operation.operands.back();
  result.lane = output.loops.back();
  // Only of a linalg.generic can loops be interchanged.
  if (operation.name == "linalg.generic") result.interchange = outer_product_order(operation);
  result.accumulator_bytes = byte_size(output.type.element);
  result.input_bytes = std::min(byte_size(operation.operands[0].type.element),
                                byte_size(operation.operands[1].type.element));
  return result;
}

std::optional<std::int64_t> rows_in_first_level(const problem::Operation& operation,
                                                const problem::Operand& operand,
                                                const problem::CpuTarget& target) {
  constexpr std::int64_t kWayBytes = 4096;
  if (operand.output || operand.loops.size() < 2 || operand.loops.back() < 0) return std::nullopt;
  if (!operation.loops[static_cast<std::size_t>(operand.loops.back())].reduction)
    return std::nullopt;
  const std::int64_t stride = operand.type.shape.back() * byte_size(operand.type.element);
  const std::int64_t ways = std::max<std::int64_t>(1, target.l1d_bytes / kWayBytes);
  return ways * (kWayBytes / std::gcd(stride, kWayBytes));
}

}  // namespace hone::iree
