#include "measure/given_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {
namespace {

using problem::BindingUse;

// tolerance_for takes the largest sum to be this many times the typical one.
constexpr double kLargestOverTypical = 6;

double largest_magnitude(std::span<const std::byte> bytes, problem::ElementType type) {
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  double largest = 0;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const double value = std::abs(load_element(bytes.data() + at, type));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// The root's product of the two contents; nothing when it cannot be computed here.
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
  double crude = static_cast<double>(plan.terms);
  plan.largest_fused_input = 0;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const problem::Binding& binding = dispatch.bindings[i];
    const double largest = largest_magnitude(contents[i], binding.type.element);
    if (binding.use == BindingUse::kRootInput) crude *= largest;
    if (binding.use == BindingUse::kFusedInput)
      plan.largest_fused_input = std::max(plan.largest_fused_input, largest);
  }
  plan.exact = false;
  plan.absolute_sum = crude;
  plan.typical_sum = crude / kLargestOverTypical;
  plan.basis = "the given inputs";
  const auto computed = product(dispatch, contents, threads);
  if (!computed) return plan;
  // What a fused dispatch's fill adds is not in the product above.
  const double fill = has_exact_reference(dispatch) ? 0 : std::abs(dispatch.fill_value);
  const problem::ElementType output = dispatch.root.operands.back().type.element;
  plan.absolute_sum = computed->absolute_sum + fill;
  plan.typical_sum = (largest_magnitude(computed->output, output) + fill) / kLargestOverTypical;
  plan.exact = computed->exact && fill == 0;
  if (plan.exact) plan.basis = "every partial sum of the given inputs is exact";
  return plan;
}

}  // namespace hone::measure
