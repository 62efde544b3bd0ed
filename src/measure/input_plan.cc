// Chooses the values of a dispatch's bindings (inputs.h says why).
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <set>

#include "measure/half.h"
#include "measure/input_dependence.h"
#include "measure/inputs.h"
#include "measure/reference.h"
#include "measure/rounding.h"

namespace hone::measure {
namespace {

using problem::Access;
using problem::Binding;
using problem::BindingUse;
using problem::Computation;
using problem::Dispatch;
using problem::ElementType;
using problem::ElementValue;
using problem::OperationKind;
using problem::ScalarKind;
using Kind = InputValues::Kind;

// E5M2 holds integers up to 8, and some tensor cores keep only 14 digits of sums of 8-bit floats.
constexpr int kSmallMagnitude = 4;
// Integers that are selected lie in this range: enough to tell thousands apart.
constexpr int kSelectedMagnitude = 1 << 20;
// The smallest normal f16 is 2^-14. A conversion in software may give zero for less (IREE's does on
// an x86-64 without F16C), so sums that are narrowed to f16 are multiples of it.
constexpr int kFinestF16Scale = 14;
// A normal distribution leaves 1e-12 outside seven standard deviations: less than one element in
// all outputs of a long session.
constexpr double kDeviations = 7;
// Standard deviation of attention's scores.
constexpr double kScoreDeviation = 2;
// Sums of more than 1 / (kCoarse u) reals of a type are not computed in that type: a right kernel's
// sum would hardly grow any more.
constexpr double kCoarse = 64;
// How often the inputs are changed to suit the domains of what they reach.
constexpr int kMostChanges = 24;

bool is_8_bit_float(ElementType type) {
  return problem::is_float(type) && problem::byte_size(type) == 1;
}

bool all_root_inputs_are_integers(const Dispatch& dispatch) {
  return std::ranges::all_of(dispatch.bindings, [](const Binding& b) {
    return b.use != BindingUse::kRootInput || !problem::is_float(b.type.element);
  });
}

int wanted_magnitude(const Dispatch& dispatch) {
  // Integers cannot be scaled, so fused operations behind them would saturate.
  if (!is_bare(dispatch) && all_root_inputs_are_integers(dispatch)) return kSmallMagnitude;
  for (const problem::Operand& operand : dispatch.root.operands)
    if (is_8_bit_float(operand.type.element)) return kSmallMagnitude;
  for (const Binding& binding : dispatch.bindings)
    if (is_8_bit_float(binding.type.element)) return kSmallMagnitude;
  return kMagnitude;
}

bool reads_its_output(const Dispatch& dispatch) {
  return std::ranges::any_of(dispatch.bindings, [](const Binding& b) {
    return b.use == BindingUse::kOutput && b.access == Access::kReadWrite;
  });
}

double power(double base, int exponent) {
  return exponent == 2 ? base * base : base;
}

// The sum of `terms` products of `factors` values, of which only the first may be zero, before
// scaling.
struct Sum {
  int factors;
  double terms;

  double hard_bound(const InputValues& values) const {
    return terms * power(values.magnitude, factors);
  }
  // Mean square of one product.
  double mean_square(const InputValues& values) const {
    return values.density *
           power((values.magnitude + 1.0) * (2.0 * values.magnitude + 1) / 6, factors);
  }
  // Mean of sum |a||b| plus seven standard deviations.
  double likely_bound(const InputValues& values) const {
    const double mean = values.density * power((values.magnitude + 1.0) / 2, factors);
    const double variance = std::max(0.0, mean_square(values) - mean * mean);
    return std::min(hard_bound(values), terms * mean + kDeviations * std::sqrt(terms * variance));
  }
};

// The power of two that sums are divided by to be of unit size.
int unit_scale(const Sum& sum, const InputValues& values) {
  const double deviation = std::sqrt(sum.terms * sum.mean_square(values));
  return std::max(0, static_cast<int>(std::lround(std::log2(deviation))));
}

bool narrows_to_f16(const Dispatch& dispatch, ElementType accumulation) {
  return accumulation != ElementType::kF16 &&
         std::ranges::any_of(dispatch.bindings, [](const Binding& b) {
           return b.use == BindingUse::kOutput && b.type.element == ElementType::kF16;
         });
}

// The largest magnitude, or below 1 the largest density, whose sums fit into 2^digits. `before`:
// outputs are added to, and hold one magnitude already; or they are filled with `fill`.
InputValues fitting_values(const Sum& sum, int digits, int magnitude, bool before, double fill) {
  const double most = std::ldexp(1.0, digits);
  InputValues values{Kind::kIntegers, magnitude, 0, 1, 1};
  const auto held = [&] { return before ? values.magnitude : std::abs(fill); };
  while (values.magnitude > 1 && sum.hard_bound(values) + held() > most) --values.magnitude;
  if (sum.hard_bound(values) + held() > most)
    while (sum.likely_bound(values) + held() > most) values.density *= 0.98;
  return values;
}

std::int64_t index_limit(const Dispatch& dispatch) {
  std::int64_t limit = problem::kDynamic;
  for (const Binding& binding : dispatch.bindings) {
    if (binding.use == BindingUse::kIndexInput) continue;
    for (const std::int64_t extent : binding.type.shape)
      if (extent > 1 && (limit < 0 || extent < limit)) limit = extent;
  }
  return std::max<std::int64_t>(1, limit);
}

std::string basis_of(const InputPlan& plan, const InputValues& values, ElementType accumulation,
                     int digits) {
  const std::string what = values.density < 1
                               ? fmt::format("-1, 0 and 1 ({:.0f} % not 0)", 100 * values.density)
                               : fmt::format("integers of magnitude 1 to {}", values.magnitude);
  return fmt::format("sums of {} terms of {} stay within 2^{}, exact in {}", plan.terms, what,
                     digits, problem::name_of(accumulation));
}

// Binary digits behind the point of what the sums begin at: they leave less room for the sums.
int digits_behind_point(double fill) {
  int digits = 0;
  while (std::isfinite(fill) && std::ldexp(fill, digits) != std::rint(std::ldexp(fill, digits)))
    ++digits;
  return digits;
}

class Planner {
 public:
  Planner(const Dispatch& dispatch, OperandSet set)
      : dispatch_(dispatch), set_(set), computation_(problem::computation_of(dispatch)) {
    for (const ElementValue& value : computation_.values)
      if (value.root) root_ = &value;
  }

  InputPlan plan() {
    const InputValues indices{Kind::kIndices, 1, 0, 1, index_limit(dispatch_)};
    for (const Binding& binding : dispatch_.bindings)
      plan_.bindings.push_back(binding.use == BindingUse::kIndexInput ? indices : InputValues{});
    choose();
    suit_the_domains();
    settle_exactness();
    return std::move(plan_);
  }

 private:
  void choose() {
    const bool reduces = root_ != nullptr && root_->kind == ElementValue::Kind::kReduction;
    plan_.terms = root_ == nullptr ? 1 : root_->terms;
    if (reduces && root_->operation.facts().selects()) return extremes();
    const bool adds = reduces && root_->operation.is(ScalarKind::kSum);
    if (adds) polynomial_ = dependence_.polynomial_of(root_->operands.front());
    if (set_ == OperandSet::kReals) return reals();
    const bool full = set_ == OperandSet::kFullSignificands;
    if (adds && full && (sparse_products() || (is_coarse() && sparse_terms()))) return;
    if (polynomial_.degree == 0 || polynomial_.degree > 2 || (full && !is_coarse())) return reals();
    integers();
  }

  bool is_coarse() const {
    return !problem::is_float(root_->type) ||
           static_cast<double>(plan_.terms) * kCoarse * unit_roundoff(root_->type) > 1;
  }

  void reals() {
    plan_.basis = fmt::format("{} is no sum of products of whole numbers: real inputs",
                              problem::name_of(dispatch_.root.kind));
    plan_.absolute_sum = 0;
    plan_.typical_sum = std::sqrt(static_cast<double>(plan_.terms));
    large_integers();
    scale_queries();
    scale_sums();
  }

  // Uses large integers if the dispatch computes only with integers: small ones would all look
  // alike.
  void large_integers() {
    const bool floats = std::ranges::any_of(computation_.values, [](const ElementValue& value) {
      return problem::is_float(value.type);
    });
    if (floats) return;
    for_root_inputs([&](std::size_t i) {
      plan_.bindings[i].kind = Kind::kIntegers;
      plan_.bindings[i].magnitude = kMagnitude;
    });
  }

  void for_root_inputs(const std::function<void(std::size_t)>& change) {
    for (std::size_t i = 0; i < plan_.bindings.size(); ++i)
      if (dispatch_.bindings[i].use == BindingUse::kRootInput) change(i);
  }

  // Near-equal weights make an output in which hardly any dropped term shows.
  void scale_queries() {
    for (const ElementValue& value : computation_.values) {
      if (value.kind != ElementValue::Kind::kAttention || value.operands.empty()) continue;
      const int query = dependence_.source_of(value.operands[0]);
      if (query < 0) continue;
      double scale = 1;
      if (value.operands.size() > 3) {
        const ElementValue& given = computation_.at(value.operands[3]);
        if (given.kind == ElementValue::Kind::kConstant && given.constant != 0)
          scale = std::abs(given.constant);
      }
      const double deviation = scale * std::sqrt(static_cast<double>(value.inner_terms)) * 1.1;
      plan_.bindings[static_cast<std::size_t>(query)].exponent =
          static_cast<int>(std::lround(std::log2(kScoreDeviation / deviation)));
    }
  }

  // Scales sums of reals with fused operations behind them to unit size too.
  void scale_sums() {
    if (root_ == nullptr || root_->kind != ElementValue::Kind::kReduction || is_bare(dispatch_) ||
        polynomial_.degree == 0)
      return;
    const double deviation = plan_.typical_sum * polynomial_.coefficients;
    const int exponent = -static_cast<int>(std::lround(std::log2(deviation))) / polynomial_.degree;
    for_root_inputs([&](std::size_t i) {
      if (problem::is_float(dispatch_.bindings[i].type.element))
        plan_.bindings[i].exponent = std::min(0, exponent);
    });
  }

  // The dimensions of a root input that are longer than one, as the root walks them; none where the
  // binding has others.
  std::vector<InputAxis> axes_of(std::size_t binding, int operand, int split) const {
    const problem::Operand& walked = dispatch_.root.operands[static_cast<std::size_t>(operand)];
    if (walked.loops.size() != walked.type.shape.size()) return {};
    // An index of several loops is that of a window, which walks a reduction. Where the operand
    // walks each reduction by itself it is a multiple of another loop: every second pixel.
    const auto& loops = dispatch_.root.loops;
    bool walks_all = true;
    for (std::size_t l = 0; l < loops.size(); ++l)
      walks_all = walks_all && (!loops[l].reduction ||
                                std::ranges::count(walked.loops, static_cast<int>(l)) > 0);
    std::vector<InputAxis> axes;
    for (std::size_t d = 0; d < walked.loops.size(); ++d) {
      if (walked.type.shape[d] == 1) continue;
      const int loop = walked.loops[d];
      const bool reduced = loop < 0 ? !walks_all : loops[static_cast<std::size_t>(loop)].reduction;
      axes.push_back({walked.type.shape[d], reduced, loop >= 0 && loop == split});
    }
    std::vector<std::int64_t> held = dispatch_.bindings[binding].type.shape;
    std::erase(held, 1);
    const bool same = std::ranges::equal(axes, held, {}, &InputAxis::extent);
    if (!same) return {};
    if (axes.empty()) axes.push_back({});
    return axes;
  }

  // Whether an index of the operand is no loop's alone.
  bool walks_windows(std::size_t operand) const {
    return std::ranges::count(dispatch_.root.operands[operand].loops, -1) > 0;
  }

  int binding_of(std::size_t operand) const {
    if (operand >= dispatch_.root_bindings.size()) {
      const auto known = bindings_of_operands(dispatch_);
      return known && operand < known->size() ? static_cast<int>((*known)[operand]) : -1;
    }
    return dispatch_.root_bindings[operand];
  }

  void extremes() {
    plan_.basis = "one largest and one smallest term of each row";
    for (std::size_t operand = 0; operand < dispatch_.root.operands.size(); ++operand) {
      const int binding = binding_of(operand);
      if (binding < 0 || dispatch_.root.operands[operand].output) continue;
      InputValues& values = plan_.bindings[static_cast<std::size_t>(binding)];
      values.axes = axes_of(static_cast<std::size_t>(binding), static_cast<int>(operand), -1);
      // Windows overlap: an element that stands out in one window need not do so in the next.
      if (walks_windows(operand)) values.axes.clear();
    }
    for_root_inputs([&](std::size_t i) {
      InputValues& values = plan_.bindings[i];
      const ElementType type = dispatch_.bindings[i].type.element;
      values.magnitude = problem::byte_size(type) == 1 ? kMagnitude : kSelectedMagnitude;
      if (problem::byte_size(type) == 2) values.magnitude = 1 << 14;
      if (!values.axes.empty())
        values.kind = Kind::kExtremes;
      else if (!problem::is_float(type))
        values.kind = Kind::kIntegers;
    });
  }

  // Sums of one term of a full significand each; false where more than one binding makes a term.
  bool sparse_terms() {
    const std::set<std::size_t> bindings = dependence_.sources_of(root_->operands.front());
    if (!dependence_.vanishes(root_->operands.front()) || bindings.size() != 1 ||
        dispatch_.fill_value != 0 || reads_its_output(dispatch_) ||
        binding_of(0) != static_cast<int>(*bindings.begin()))
      return false;
    const std::size_t binding = *bindings.begin();
    InputValues values{Kind::kSparse, 1, 0, 1, 1};
    values.axes = axes_of(binding, 0, -1);
    if (values.axes.empty() || walks_windows(0)) return false;
    values.digits = significand_digits(dispatch_.bindings[binding].type.element);
    values.alone = true;
    plan_.bindings[binding] = std::move(values);
    sums_of_one_term("each sum has one term that is not zero, of a full significand");
    return true;
  }

  void sums_of_one_term(std::string basis) {
    plan_.single_products = true;
    plan_.exact = true;
    plan_.absolute_sum = 4;
    plan_.typical_sum = 2;
    plan_.basis = std::move(basis);
  }

  // Sums of single products of full significands; false unless the root has two inputs.
  bool sparse_products() {
    const problem::Operation& root = dispatch_.root;
    // A product with an index that is a multiple of a loop is called a reduction.
    const bool products = problem::is_contraction(root.kind) ||
                          root.kind == OperationKind::kConvolution ||
                          root.kind == OperationKind::kReduction;
    if (!products || polynomial_.degree != 2 || polynomial_.coefficients != 1 ||
        root.operands.size() != 3 || reads_its_output(dispatch_) || dispatch_.fill_value != 0)
      return false;
    const int first = binding_of(0), second = binding_of(1);
    if (first < 0 || second < 0 || first == second) return false;
    int split = -1;
    for (const int loop : root.operands[0].loops)
      if (loop >= 0 && root.loops[static_cast<std::size_t>(loop)].reduction &&
          root.loops[static_cast<std::size_t>(loop)].size > 1 &&
          std::ranges::count(root.operands[1].loops, loop) > 0)
        split = loop;
    for (const int operand : {0, 1}) {
      const auto binding = static_cast<std::size_t>(operand == 0 ? first : second);
      InputValues values{Kind::kSparse, 1, 0, 1, 1};
      values.axes = axes_of(binding, operand, split);
      if (values.axes.empty()) return false;
      const int held = significand_digits(dispatch_.bindings[binding].type.element);
      values.digits =
          dispatch_.operand_digits > 0 ? std::min(held, dispatch_.operand_digits) : held;
      values.second_factor = operand == 1;
      plan_.bindings[binding] = std::move(values);
    }
    sums_of_one_term(
        "each sum has one product that is not zero, of a full significand and a power of 2");
    return true;
  }

  void integers() {
    const ElementType accumulation = root_->type;
    const int digits = significand_digits(accumulation);
    const Sum sum{polynomial_.degree, static_cast<double>(plan_.terms) * polynomial_.coefficients};
    const double fill = std::isfinite(dispatch_.fill_value) ? dispatch_.fill_value : 0;
    const std::set<std::size_t> added = added_to_sums();
    const int room = digits - digits_behind_point(fill) - (added.empty() ? 0 : 1);
    // Small integers keep the tolerance below what a missing fill makes, when sums are rounded
    // after all.
    const bool fits = fill == 0 || std::ldexp(1.0, room) > sum.terms + std::abs(fill);
    InputValues values = fits ? fitting_values(sum, room, wanted_magnitude(dispatch_),
                                               reads_its_output(dispatch_), fill)
                              : fitting_values(sum, digits, kSmallMagnitude, false, 0);
    const bool scaled = !is_bare(dispatch_) && !all_root_inputs_are_integers(dispatch_);
    const int finest = narrows_to_f16(dispatch_, accumulation) ? kFinestF16Scale : INT_MAX;
    while (scaled && values.magnitude > 1 && unit_scale(sum, values) > finest) --values.magnitude;
    const double deviation = std::sqrt(sum.terms * sum.mean_square(values));
    const int scale = scaled ? unit_scale(sum, values) : 0;
    plan_.exact = true;
    plan_.basis = basis_of(plan_, values, accumulation, digits);
    plan_.typical_sum = std::ldexp(deviation, -scale);
    plan_.absolute_sum = std::ldexp(sum.likely_bound(values), -scale);
    if (dispatch_.fill_value != 0) add_fill(scale, digits);
    for (const std::size_t binding : added) add_whole_numbers(binding, scale);

    int root_inputs = 0;
    for (std::size_t i = 0; i < dispatch_.bindings.size(); ++i) {
      const Binding& binding = dispatch_.bindings[i];
      if (binding.use == BindingUse::kRootInput) {
        // The scale is shared between the factors, so that narrow exponents hold it.
        const int share = polynomial_.degree == 1 ? scale
                          : root_inputs == 0      ? (scale + 1) / 2
                                                  : scale / 2;
        plan_.bindings[i] = values;
        plan_.bindings[i].exponent = problem::is_float(binding.type.element) ? -share : 0;
        // Zeros in one factor are enough, and rows of it then prove the bound.
        values.density = 1;
        ++root_inputs;
      } else if (binding.use == BindingUse::kOutput) {
        plan_.bindings[i] = values;
        plan_.bindings[i].density = 1;  // also where no root input came before
        plan_.bindings[i].exponent = problem::is_float(binding.type.element) ? -scale : 0;
      }
    }
  }

  // Fused inputs that are added to the root's sums, such as a bias. A compiler may let the sums
  // begin with them instead (MLIR's CanonicalizeContractAdd, vector dialect): those sums must be
  // exact too.
  std::set<std::size_t> added_to_sums() const {
    const auto root = static_cast<int>(root_ - computation_.values.data());
    std::set<std::size_t> bindings;
    for (const ElementValue& value : computation_.values) {
      if (value.kind != ElementValue::Kind::kOperation || !value.operation.is(ScalarKind::kSum) ||
          !problem::is_float(value.type) || value.operands.size() != 2)
        continue;
      for (const std::size_t sum : {std::size_t{0}, std::size_t{1}}) {
        const int source = dependence_.source_of(value.operands[1 - sum]);
        const auto binding = static_cast<std::size_t>(source);
        if (computation_.tensor_of(value.operands[sum]) == root && source >= 0 &&
            dispatch_.bindings[binding].use == BindingUse::kFusedInput)
          bindings.insert(binding);
      }
    }
    return bindings;
  }

  // On the grid of the sums and as large as they are, as far as the type holds it.
  void add_whole_numbers(std::size_t binding, int scale) {
    const ElementType type = dispatch_.bindings[binding].type.element;
    const int digits = std::min(significand_digits(type), significand_digits(root_->type) - 1);
    const double typical = std::ldexp(plan_.typical_sum, scale);
    InputValues& values = plan_.bindings[binding];
    values.kind = Kind::kIntegers;
    values.magnitude = static_cast<int>(std::clamp(2 * typical, 1.0, std::ldexp(1.0, digits)));
    values.exponent = -scale;
  }

  // The sums begin at the fill's constant: on the finer of its grid and that of the products, which
  // are 2^-scale apart, there has to be room for both.
  void add_fill(int scale, int digits) {
    const double fill = dispatch_.fill_value;
    const int grid = std::max(scale, digits_behind_point(fill));
    const bool fits = std::isfinite(fill) && std::ldexp(plan_.absolute_sum + std::abs(fill),
                                                        grid) <= std::ldexp(1.0, digits);
    if (!fits) plan_.basis = fmt::format("sums that begin at {} are rounded", fill);
    plan_.exact &= fits;
    if (std::isfinite(fill)) plan_.absolute_sum += std::abs(fill);
  }

  // Changes the inputs of the first value that is out of its domain, until none is. Any remaining
  // case shows in the reference, as NaN or infinity.
  void suit_the_domains() {
    for (int change = 0; change < kMostChanges; ++change) {
      const Rounding rounding = estimate_rounding(computation_, plan_);
      if (rounding.out_of_domain.empty() || !suit(rounding.out_of_domain.front())) return;
    }
  }

  bool suit(const OutOfDomain& demand) {
    bool changed = false;
    for (const std::size_t i : dependence_.sources_of(demand.value)) {
      if (i >= plan_.bindings.size() || !problem::is_float(dispatch_.bindings[i].type.element))
        continue;
      InputValues& values = plan_.bindings[i];
      if (demand.too_large) {
        if (values.exponent < -6) continue;
        --values.exponent;
        changed = true;
      } else if (!values.positive) {
        values.positive = changed = true;
      } else if (values.kind == Kind::kReals && values.exponent < 2) {
        // A constant is subtracted from it, so make it larger.
        values.exponent += 2;
        changed = true;
      }
    }
    return changed;
  }

  // Decides exactness by the analysis of the final inputs.
  void settle_exactness() {
    if (root_ == nullptr) return;
    const auto index = static_cast<std::size_t>(root_ - computation_.values.data());
    const bool exact = estimate_rounding(computation_, plan_).values[index].is_exact();
    if (plan_.exact && !exact) plan_.basis = "what is summed up is rounded: " + plan_.basis;
    plan_.exact = exact && (root_->kind == ElementValue::Kind::kReduction);
  }

  const Dispatch& dispatch_;
  OperandSet set_;
  Computation computation_;
  InputDependence dependence_{computation_};
  const ElementValue* root_ = nullptr;
  Polynomial polynomial_{};
  InputPlan plan_;
};

}  // namespace

InputPlan plan_inputs(const Dispatch& dispatch, OperandSet set) {
  return Planner(dispatch, set).plan();
}

}  // namespace hone::measure
