// Right kernels are never called wrong: ten thousand of random shapes, types, layouts, epilogues
// and orders of summation, compared as two compilers' would be.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "measure/reference.h"
#include "measure/verification.h"
#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::Dispatch;
using problem::ElementType;

constexpr int kKernels = 10000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_bits(seed_, index_++) % limit; }

 private:
  std::uint64_t seed_, index_ = 0;
};

// How a compiler may put a sum together.
enum class Order { kForward, kBackward, kEightLanes, kPairs, kFused };

float pairs(const std::vector<float>& terms, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return terms[begin];
  const std::size_t middle = begin + (end - begin) / 2;
  return pairs(terms, begin, middle) + pairs(terms, middle, end);
}

float sum_of(const std::vector<float>& a, const std::vector<float>& b, float initial, Order order) {
  std::vector<float> terms(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) terms[k] = a[k] * b[k];
  float sum = initial;
  switch (order) {
    case Order::kForward:
      for (const float term : terms) sum += term;
      return sum;
    case Order::kBackward:
      for (std::size_t k = terms.size(); k-- > 0;) sum += terms[k];
      return sum;
    case Order::kEightLanes: {
      std::array<float, 8> lanes{};
      for (std::size_t k = 0; k < terms.size(); ++k) lanes[k % 8] += terms[k];
      return sum + (((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
                    ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])));
    }
    case Order::kPairs:
      return pairs(terms, 0, terms.size()) + sum;
    case Order::kFused:
      for (std::size_t k = 0; k < a.size(); ++k) sum = std::fma(a[k], b[k], sum);
      return sum;
  }
  return sum;
}

// What is fused behind the sums: once as written, in f32, and once as another compiler may do it,
// with wider intermediates.
struct Epilogue {
  const char* words;
  float (*plain)(float x, float bias);
  double (*wide)(double x, double bias);
};
constexpr std::array kEpilogues{
    Epilogue{"elementwise(arith.addf)", [](float x, float b) { return x + b; },
             [](double x, double b) { return x + b; }},
    Epilogue{"elementwise(arith.addf, arith.maximumf)",
             [](float x, float b) { return std::max(x + b, 0.0f); },
             [](double x, double b) { return std::max(x + b, 0.0); }},
    Epilogue{"elementwise(arith.mulf, arith.addf)", [](float x, float b) { return x * 0.37f + b; },
             [](double x, double b) { return x * static_cast<double>(0.37f) + b; }},
    Epilogue{"elementwise(arith.addf, arith.mulf)",
             [](float x, float b) { return (x + b) * (x + b); },
             [](double x, double b) { return (x + b) * (x + b); }},
    Epilogue{"elementwise(arith.addf, arith.mulf, math.erf)",
             [](float x, float b) {
               const float y = x + b;
               return y * 0.5f * (1 + std::erf(y * 0.70710678f));
             },
             [](double x, double b) {
               const double y = x + b;
               return y / 2 * (1 + std::erf(y * std::sqrt(0.5)));
             }},
    Epilogue{"elementwise(arith.addf, arith.negf, math.exp, arith.divf)",
             [](float x, float b) { return 1 / (1 + std::exp(-(x + b))); },
             [](double x, double b) { return 1 / (1 + std::exp(-(x + b))); }},
    Epilogue{"elementwise(arith.addf, math.tanh)",
             [](float x, float b) { return std::tanh(x + b); },
             [](double x, double b) { return std::tanh(x + b); }},
    Epilogue{"elementwise(arith.addf, arith.negf, math.exp, arith.divf, arith.mulf)",
             [](float x, float b) { return (x + b) / (1 + std::exp(-(x + b))); },
             [](double x, double b) { return (x + b) / (1 + std::exp(-(x + b))); }},
};

struct Types {
  ElementType in, sum;
};
constexpr std::array kTypes{
    Types{ElementType::kF32, ElementType::kF32},    Types{ElementType::kF16, ElementType::kF32},
    Types{ElementType::kBF16, ElementType::kF32},   Types{ElementType::kI8, ElementType::kI32},
    Types{ElementType::kF8E4M3, ElementType::kF32}, Types{ElementType::kF16, ElementType::kF16},
    Types{ElementType::kBF16, ElementType::kBF16}};

// One kernel's output: m x n, elements of the last binding's type.
class Kernel {
 public:
  Kernel(const Dispatch& dispatch, const std::vector<Bytes>& in, bool transposed)
      : dispatch_(dispatch),
        in_(in),
        transposed_(transposed),
        m_(extent(0)),
        n_(extent(1)),
        k_(extent(2)) {}

  Bytes run(Order order, const Epilogue* epilogue, bool wide) const {
    const problem::TensorType& out = dispatch_.bindings.back().type;
    const ElementType sum_type = dispatch_.root.operands[2].type.element;
    Bytes output(byte_count(out)), rounded(8);
    for (std::size_t m = 0; m < m_; ++m)
      for (std::size_t n = 0; n < n_; ++n) {
        // f32 holds the sums of all these types exactly (of i8 too: k x 127^2 < 2^24), and a kernel
        // may accumulate wider than it stores.
        const float sum =
            sum_of(row(m), column(n), static_cast<float>(dispatch_.fill_value), order);
        set_element(rounded, sum_type, 0, static_cast<double>(sum));
        double value = element(rounded, sum_type, 0);
        if (epilogue != nullptr) {
          const double bias = element(in_[2], dispatch_.bindings[2].type.element, n);
          value = wide ? epilogue->wide(value, bias)
                       : static_cast<double>(
                             epilogue->plain(static_cast<float>(value), static_cast<float>(bias)));
        }
        set_element(output, out.element, m * n_ + n, value);
      }
    return output;
  }

 private:
  std::size_t extent(std::size_t loop) const {
    return static_cast<std::size_t>(dispatch_.root.loops[loop].size);
  }
  std::vector<float> row(std::size_t m) const {
    std::vector<float> values(k_);
    for (std::size_t k = 0; k < k_; ++k) values[k] = input(0, m * k_ + k);
    return values;
  }
  std::vector<float> column(std::size_t n) const {
    std::vector<float> values(k_);
    for (std::size_t k = 0; k < k_; ++k)
      values[k] = input(1, transposed_ ? n * k_ + k : k * n_ + n);
    return values;
  }
  float input(std::size_t binding, std::size_t index) const {
    return static_cast<float>(
        element(in_[binding], dispatch_.bindings[binding].type.element, index));
  }

  const Dispatch& dispatch_;
  const std::vector<Bytes>& in_;
  bool transposed_;
  std::size_t m_, n_, k_;
};

// What a random kernel was, for the message when it is called wrong.
struct Case {
  Dispatch dispatch;
  bool transposed = false;
  const Epilogue* epilogue = nullptr;
};

Case random_case(Random& random) {
  const auto extent = [&](std::uint64_t most) {
    return static_cast<std::int64_t>(1 + random.below(most));
  };
  const Types types = kTypes[random.below(kTypes.size())];
  Case made;
  made.transposed = random.below(2) == 0;
  const std::int64_t m = extent(7), n = extent(7), k = extent(random.below(20) == 0 ? 300 : 48);
  made.dispatch = matmul_dispatch(m, n, k, types.in, types.sum, made.transposed);
  if (types.sum == ElementType::kF32 && random.below(3) != 0) {
    made.epilogue = &kEpilogues[random.below(kEpilogues.size())];
    const ElementType out =
        std::array{ElementType::kF32, ElementType::kF16, ElementType::kBF16}[random.below(3)];
    made.dispatch.fused.emplace_back(made.epilogue->words);
    made.dispatch.bindings.insert(made.dispatch.bindings.begin() + 2,
                                  {problem::Access::kReadOnly,
                                   problem::BindingUse::kFusedInput,
                                   {ElementType::kF32, {n}},
                                   n * 4});
    made.dispatch.bindings[3].type.element = out;
  } else if (random.below(8) == 0) {
    made.dispatch.fill_value = std::array{
        1.0, -3.0,
        0.1}[random.below(problem::is_float(types.sum) && types.sum == ElementType::kF32 ? 3 : 2)];
  }
  return made;
}

TEST(RightKernels, TenThousandRandomOnesAreNeverCalledWrong) {
  Random random(2026);
  double closest = 0;
  int exact = 0;
  for (int i = 0; i < kKernels; ++i) {
    const Case made = random_case(random);
    const std::vector<Bytes> in = inputs_of(made.dispatch, static_cast<std::uint64_t>(i));
    const Kernel kernel(made.dispatch, in, made.transposed);
    const auto order = [&] { return static_cast<Order>(random.below(5)); };
    const Bytes got = kernel.run(order(), made.epilogue, random.below(2) == 0);
    // A bare contraction against hone's own product, a fused one against another compile.
    const Bytes expected = made.epilogue != nullptr
                               ? kernel.run(order(), made.epilogue, random.below(2) == 0)
                               : exact_contraction(made.dispatch.root, in[0], in[1], 1,
                                                   initial_output(made.dispatch, {}))
                                     ->output;
    const Tolerance tolerance = tolerance_for(made.dispatch);
    const auto comparison =
        compare(got, expected, made.dispatch.bindings.back().type, tolerance).value();
    ASSERT_TRUE(comparison.right) << "kernel " << i << ", " << problem::describe(made.dispatch.root)
                                  << " "
                                  << (made.epilogue != nullptr ? made.epilogue->words : "bare")
                                  << ", filled with " << made.dispatch.fill_value << ": "
                                  << describe(comparison) << "; " << tolerance.basis;
    if (tolerance.absolute == 0)
      ++exact;
    else
      closest = std::max(closest, comparison.worst_error / tolerance.absolute);
  }
  EXPECT_GT(exact, kKernels / 4);
  std::printf("%d of %d compared exactly; largest error of the others: %.2f of the tolerance\n",
              exact, kKernels, closest);
}

// A product with a bias behind it, value by value.
Dispatch biased_product(std::int64_t k) {
  using ValueKind = problem::ElementValue::Kind;
  Dispatch dispatch = matmul_dispatch(6, 5, k, ElementType::kF32, ElementType::kF32, false);
  dispatch.fused.emplace_back("elementwise(arith.addf)");
  dispatch.bindings.insert(dispatch.bindings.begin() + 2, {problem::Access::kReadOnly,
                                                           problem::BindingUse::kFusedInput,
                                                           {ElementType::kF32, {5}},
                                                           5 * 4});
  dispatch.root_bindings = {0, 1, -1};
  std::vector<problem::ElementValue>& values = dispatch.computation.values;
  const auto add = [&](ValueKind kind, std::vector<int> operands, std::string operation = {}) {
    problem::ElementValue value;
    value.kind = kind;
    value.operands = std::move(operands);
    value.operation = std::move(operation);
    values.push_back(std::move(value));
    return static_cast<int>(values.size()) - 1;
  };
  const auto element_of = [&](int binding) {
    const int input = add(ValueKind::kInput, {});
    values.back().binding = binding;
    return add(ValueKind::kElement, {input});
  };
  const int a = element_of(0), b = element_of(1);
  const int product = add(ValueKind::kOperation, {a, b}, "arith.mulf");
  const int zero = add(ValueKind::kConstant, {});
  const int sum = add(ValueKind::kReduction, {product, zero}, "arith.addf");
  values.back().terms = k;
  values.back().root = true;
  const int of_sum = add(ValueKind::kElement, {sum}), bias = element_of(2);
  dispatch.computation.outputs.push_back(
      {3, add(ValueKind::kOperation, {of_sum, bias}, "arith.addf")});
  return dispatch;
}

// MLIR's vector dialect turns "product, plus bias" into a product that begins with the bias
// (CanonicalizeContractAdd).
TEST(RightKernels, MayBeginTheirSumsWithTheBias) {
  for (const std::int64_t k : {3, 16, 300, 3072}) {
    const Dispatch dispatch = biased_product(k);
    for (const OperandSet set : {OperandSet::kExact, OperandSet::kFullSignificands}) {
      const InputPlan plan = plan_inputs(dispatch, set);
      std::vector<Bytes> in(3);
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i].resize(static_cast<std::size_t>(dispatch.bindings[i].bytes));
        fill_input(in[i], ElementType::kF32, plan.bindings[i], binding_seed(7, i));
      }
      const Tolerance tolerance = tolerances_for(dispatch, plan)[3];
      if (set == OperandSet::kExact) {
        EXPECT_EQ(plan.bindings[2].kind, InputValues::Kind::kIntegers);
        EXPECT_EQ(tolerance.absolute, 0) << tolerance.basis;
        EXPECT_EQ(tolerance.relative, 0) << tolerance.basis;
      }
      const auto at = [&](std::size_t binding, std::size_t index) {
        return static_cast<float>(element(in[binding], ElementType::kF32, index));
      };
      for (const Order order : {Order::kForward, Order::kEightLanes, Order::kFused}) {
        Bytes behind(6 * 5 * 4), begun(6 * 5 * 4);
        const auto terms = static_cast<std::size_t>(k);
        std::vector<float> row(terms), column(terms);
        for (std::size_t m = 0; m < 6; ++m)
          for (std::size_t n = 0; n < 5; ++n) {
            for (std::size_t i = 0; i < terms; ++i) {
              row[i] = at(0, m * terms + i);
              column[i] = at(1, i * 5 + n);
            }
            const float bias = at(2, n);
            const float after = sum_of(row, column, 0, Order::kForward) + bias;
            set_element(behind, ElementType::kF32, m * 5 + n, static_cast<double>(after));
            set_element(begun, ElementType::kF32, m * 5 + n,
                        static_cast<double>(sum_of(row, column, bias, order)));
          }
        const auto comparison =
            compare(begun, behind, {ElementType::kF32, {6, 5}}, tolerance).value();
        EXPECT_TRUE(comparison.right)
            << k << " terms: " << describe(comparison) << "; " << tolerance.basis;
      }
    }
  }
}

}  // namespace
}  // namespace hone::measure
