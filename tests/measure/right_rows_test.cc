// Sums along rows in any order are never called wrong: three thousand of random lengths, types and
// bodies, each order of summation rounded to the type after every step, compared with another
// order.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>

#include "measure/launch_operands.h"
#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::Computation;
using problem::ElementType;
using problem::ElementValue;

struct Body {
  const char* name;
  // The operations on a row's element, each of the one before it; a square has it twice.
  std::vector<const char*> operations;
  double (*term)(double x);
};
constexpr double kDivisor = 49;

const std::array<Body, 5> kBodies = {
    Body{"sum", {}, [](double x) { return x; }},
    Body{"squares", {"arith.mulf"}, [](double x) { return x * x; }},
    Body{"mean", {"arith.divf"}, [](double x) { return x / kDivisor; }},
    Body{"exponentials", {"math.exp"}, [](double x) { return std::exp(x); }},
    Body{"mean squares", {"arith.mulf", "arith.divf"}, [](double x) { return x * x / kDivisor; }}};

// out[i] = sum over j of the body of in[i, j].
problem::Dispatch row_dispatch(const Body& body, std::int64_t rows, std::int64_t terms,
                               ElementType type) {
  using namespace problem;
  Dispatch dispatch;
  dispatch.name = body.name;
  dispatch.root.kind = OperationKind::kReduction;
  dispatch.root.name = "linalg.generic";
  dispatch.root.loops = {{false, rows}, {true, terms}};
  const TensorType in{type, {rows, terms}}, out{type, {rows}};
  dispatch.root.operands = {{in, {0, 1}, false}, {out, {0}, true}};
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, in, 0},
                       {Access::kWriteOnly, BindingUse::kOutput, out, 0}};
  dispatch.root_bindings = {0, 1};
  for (Binding& binding : dispatch.bindings)
    binding.bytes = static_cast<std::int64_t>(byte_count(binding.type));
  Computation& computation = dispatch.computation;
  const auto add = [&](ElementValue value) {
    value.type = type;
    computation.values.push_back(std::move(value));
    return static_cast<int>(computation.values.size()) - 1;
  };
  ElementValue input{.kind = ElementValue::Kind::kInput};
  input.binding = 0;
  int value = add(std::move(input));
  for (const char* operation : body.operations) {
    ElementValue step{
        .kind = ElementValue::Kind::kOperation, .operation = operation, .operands = {value}};
    if (step.operation == "arith.mulf") step.operands.push_back(value);
    if (step.operation == "arith.divf") {
      ElementValue divisor{.kind = ElementValue::Kind::kConstant};
      divisor.constant = kDivisor;
      step.operands.push_back(add(std::move(divisor)));
    }
    value = add(std::move(step));
  }
  const int start = add({.kind = ElementValue::Kind::kConstant});
  ElementValue sum{.kind = ElementValue::Kind::kReduction,
                   .operation = "arith.addf",
                   .operands = {value, start}};
  sum.terms = terms;
  sum.root = true;
  computation.outputs = {{1, add(std::move(sum))}};
  return dispatch;
}

enum class RowOrder { kForward, kBackward, kSixteenLanes, kPairs, kWide };
constexpr std::array kOrders = {RowOrder::kForward, RowOrder::kBackward, RowOrder::kSixteenLanes,
                                RowOrder::kPairs, RowOrder::kWide};

double rounded(double value, ElementType type) {
  std::array<std::byte, 8> bytes;
  store_element(bytes.data(), type, value);
  return load_element(bytes.data(), type);
}

double sum_of(const std::vector<double>& terms, ElementType type, RowOrder order) {
  const auto plus = [type](double a, double b) { return rounded(a + b, type); };
  double sum = 0;
  switch (order) {
    case RowOrder::kForward:
      for (const double term : terms) sum = plus(sum, term);
      return sum;
    case RowOrder::kBackward:
      for (std::size_t k = terms.size(); k-- > 0;) sum = plus(sum, terms[k]);
      return sum;
    case RowOrder::kSixteenLanes: {
      std::array<double, 16> lanes{};
      for (std::size_t k = 0; k < terms.size(); ++k)
        lanes[k % lanes.size()] = plus(lanes[k % lanes.size()], terms[k]);
      for (const double lane : lanes) sum = plus(sum, lane);
      return sum;
    }
    case RowOrder::kPairs: {
      std::vector<double> left = terms;
      while (left.size() > 1) {
        for (std::size_t i = 0; i + 1 < left.size(); i += 2)
          left[i / 2] = plus(left[i], left[i + 1]);
        if (left.size() % 2 == 1) left[left.size() / 2] = left.back();
        left.resize((left.size() + 1) / 2);
      }
      return left.front();
    }
    case RowOrder::kWide:  // as a kernel with wider accumulators
      for (const double term : terms) sum += term;
      return rounded(sum, type);
  }
  return sum;
}

TEST(RightRows, AreNeverCalledWrong) {
  std::uint64_t drawn = 0;
  const auto pick = [&drawn](std::uint64_t below) { return random_bits(77, drawn++) % below; };
  constexpr std::array kRowTypes = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  constexpr std::array<std::int64_t, 8> kTerms = {1, 7, 49, 200, 512, 1000, 4096, 16384};
  int compared = 0;
  while (compared < 3000) {
    const Body& body = kBodies[pick(kBodies.size())];
    const ElementType type = kRowTypes[pick(kRowTypes.size())];
    const std::int64_t terms = kTerms[pick(kTerms.size())], rows = terms > 1000 ? 2 : 6;
    const problem::Dispatch dispatch = row_dispatch(body, rows, terms, type);
    for (const OperandSet set : {OperandSet::kExact, OperandSet::kFullSignificands}) {
      const InputPlan plan = plan_inputs(dispatch, set);
      Bytes in(byte_count(dispatch.bindings[0].type));
      fill_input(in, type, plan.bindings[0], drawn);
      std::array<Bytes, kOrders.size()> outputs;
      for (Bytes& output : outputs) output.resize(byte_count(dispatch.bindings[1].type));
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<double> values;
        for (std::int64_t k = 0; k < terms; ++k) {
          // Narrow types are computed in f32 and rounded once.
          const double x = element(in, type, static_cast<std::size_t>(row * terms + k));
          values.push_back(rounded(rounded(body.term(x), ElementType::kF32), type));
        }
        for (std::size_t o = 0; o < kOrders.size(); ++o)
          set_element(outputs[o], type, static_cast<std::size_t>(row),
                      sum_of(values, type, kOrders[o]));
      }
      const Tolerance tolerance = tolerances_for(dispatch, plan)[1];
      for (std::size_t o = 1; o < kOrders.size(); ++o, ++compared) {
        const auto comparison =
            compare(outputs[o], outputs[0], dispatch.bindings[1].type, tolerance).value();
        ASSERT_TRUE(comparison.right)
            << body.name << " of " << terms << " " << problem::name_of(type) << ", order " << o
            << ", set " << static_cast<int>(set) << ": " << describe(comparison) << "; "
            << tolerance.basis;
      }
    }
  }
  std::printf("%d compared\n", compared);
}

// On a GPU two of 4,096 such sums were called wrong once: those that had wandered furthest from
// zero.
TEST(RightRows, ThatWanderFarFromZeroAreRight) {
  constexpr std::size_t kRows = 4096, kTerms = 4096;
  const problem::Dispatch dispatch = row_dispatch(kBodies[0], kRows, kTerms, ElementType::kF32);
  const InputPlan plan = plan_inputs(dispatch, OperandSet::kFullSignificands);
  EXPECT_EQ(plan.bindings[0].kind, InputValues::Kind::kReals);
  Bytes in(byte_count(dispatch.bindings[0].type));
  fill_input(in, ElementType::kF32, plan.bindings[0], 7);
  std::vector<float> row(kTerms), forward(kRows), wide(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    std::memcpy(row.data(), in.data() + i * kTerms * sizeof(float), kTerms * sizeof(float));
    float sum = 0;
    double exact = 0;
    for (const float each : row) {
      sum += each;
      exact += static_cast<double>(each);
    }
    forward[i] = sum;
    wide[i] = static_cast<float>(exact);
  }
  const auto bytes = [](const std::vector<float>& values) {
    const auto view = std::as_bytes(std::span(values));
    return Bytes(view.begin(), view.end());
  };
  const Tolerance tolerance = tolerances_for(dispatch, plan)[1];
  const auto comparison =
      compare(bytes(forward), bytes(wide), dispatch.bindings[1].type, tolerance).value();
  EXPECT_TRUE(comparison.right) << describe(comparison);
  // A sum that lacks one of its terms, of magnitude 0.5 and more, is wrong all the same.
  EXPECT_LT(tolerance.absolute + tolerance.relative * 6 * 64, 0.01);
}

}  // namespace
}  // namespace hone::measure
