#include "measure/given_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {
namespace {

using problem::BindingUse;

// Range of the finite elements.
ValueRange range_of_contents(std::span<const std::byte> bytes, problem::ElementType type) {
  const auto size = problem::element_bytes(type);
  ValueRange range;
  std::size_t count = 0;
  int grid = std::numeric_limits<int>::max();
  double squares = 0;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const double value = load_element(bytes.data() + at, type);
    if (!std::isfinite(value)) continue;
    range.low = count == 0 ? value : std::min(range.low, value);
    range.high = count == 0 ? value : std::max(range.high, value);
    range.smallest = count == 0 ? std::abs(value) : std::min(range.smallest, std::abs(value));
    ++count;
    range.mean += (value - range.mean) / static_cast<double>(count);
    squares += value * value;
    if (value != 0) grid = std::min(grid, lowest_digit(value));
  }
  if (count > 0) range.rms = std::sqrt(squares / static_cast<double>(count));
  if (grid != std::numeric_limits<int>::max()) range.grid = grid;
  return range;
}

// The root's product of the two contents; nullopt if it cannot be computed here.
std::optional<ExactContraction> product(const problem::Dispatch& dispatch,
                                        const std::vector<std::vector<std::byte>>& contents,
                                        int threads) {
  std::vector<int> bindings = dispatch.root_bindings;
  if (const auto all = bindings_of_operands(dispatch)) bindings.assign(all->begin(), all->end());
  if (!problem::is_contraction(dispatch.root.kind) || !dispatch.plain_products ||
      bindings.size() != 3)
    return std::nullopt;
  for (const int binding : {bindings[0], bindings[1]})
    if (binding < 0 || static_cast<std::size_t>(binding) >= contents.size()) return std::nullopt;
  const auto content = [&](int operand) {
    return std::span<const std::byte>(
        contents[static_cast<std::size_t>(bindings[static_cast<std::size_t>(operand)])]);
  };
  std::vector<std::byte> initial;
  if (is_bare(dispatch) && has_exact_reference(dispatch))
    initial = initial_output(dispatch, content(2));
  auto computed = exact_contraction(dispatch.root, content(0), content(1), threads, initial);
  if (!computed) return std::nullopt;
  return std::move(*computed);
}

}  // namespace

Status replace_contents(const problem::Dispatch& dispatch, const std::vector<std::string>& given,
                        std::vector<std::vector<std::byte>>& contents) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty()) continue;
    if (i >= contents.size() || dispatch.bindings[i].access == problem::Access::kWriteOnly)
      return input_error("binding {} of {} takes no content", i, dispatch.name);
    if (given[i].size() > contents[i].size())
      return input_error("binding {} of {} has {} bytes, {} are given for it", i, dispatch.name,
                         contents[i].size(), given[i].size());
    std::memcpy(contents[i].data(), given[i].data(), given[i].size());
  }
  return {};
}

InputPlan plan_of_contents(const problem::Dispatch& dispatch,
                           const std::vector<std::vector<std::byte>>& contents, int threads) {
  InputPlan plan = plan_inputs(dispatch);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].access == problem::Access::kWriteOnly) continue;
    InputValues& values = plan.bindings[i];
    values.kind = InputValues::Kind::kGiven;
    values.given = range_of_contents(contents[i], dispatch.bindings[i].type.element);
  }
  plan.exact = false;
  plan.absolute_sum = plan.typical_sum = 0;
  plan.basis = "the given inputs";
  const auto computed = product(dispatch, contents, threads);
  if (!computed) return plan;
  // The product above does not contain the fill of a fused dispatch.
  const double fill = has_exact_reference(dispatch) ? 0 : std::abs(dispatch.fill_value);
  plan.absolute_sum = computed->absolute_sum + fill;
  plan.exact = computed->exact && fill == 0;
  if (plan.exact) plan.basis = "every partial sum of the given inputs is exact";
  return plan;
}

}  // namespace hone::measure
