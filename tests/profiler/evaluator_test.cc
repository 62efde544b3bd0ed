// The evaluator of statements beside expectations that follow from an operation's name alone. They
// share no arithmetic, so that a fault of the evaluator or of its table shows.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "measure/half.h"
#include "measure/stated_elements.h"
#include "profiler/expected.h"

namespace hone::profiler {
namespace {

using problem::ElementType;
using problem::LoopRole;
using problem::StatedUse;
using problem::StatedValue;
using problem::Statement;

StatedValue computed(const char* name, std::vector<std::size_t> operands) {
  return {name, ElementType::kF32, std::move(operands)};
}
StatedValue constant(double value) {
  return {.operation = "constant", .type = ElementType::kF32, .constant = value};
}

// `behind`: values from number 2 on, behind the root and the load of the bias.
Statement product_with_bias(const NamedOperation& operation, std::vector<StatedValue> behind) {
  const std::int64_t n = operation.n, k = operation.k;
  const auto use = [](std::size_t view, std::vector<std::int64_t> strides) {
    return StatedUse{view, ElementType::kF32, 0, std::move(strides)};
  };
  Statement statement;
  statement.loops = {{LoopRole::kM, operation.m}, {LoopRole::kN, n}, {LoopRole::kK, k}};
  statement.operands = {use(0, {k, 0, 1}), use(1, {0, 1, n})};
  statement.values = {computed("root", {}), computed("load", {})};
  statement.values[1].use = use(2, {0, 1, 0});
  statement.values.insert(statement.values.end(), behind.begin(), behind.end());
  statement.stores = {{use(operation.inputs().size(), {n, 1, 0}), statement.values.size() - 1}};
  return statement;
}

Statement attention_of_heads(const NamedOperation& operation) {
  const std::int64_t m = operation.m, n = operation.n, k = operation.k;
  const auto use = [](std::size_t view, std::vector<std::int64_t> strides) {
    return StatedUse{view, ElementType::kF32, 0, std::move(strides)};
  };
  Statement statement;
  statement.kind = Statement::Kind::kAttention;
  statement.loops = {{LoopRole::kBatch, operation.batch},
                     {LoopRole::kM, m},
                     {LoopRole::kN, k},
                     {LoopRole::kK1, k},
                     {LoopRole::kK2, n}};
  statement.scale = 1 / std::sqrt(static_cast<double>(k));
  statement.operands = {use(0, {m * k, k, 0, 1, 0}), use(1, {n * k, 0, 0, 1, k}),
                        use(2, {n * k, 0, 1, 0, k})};
  statement.values = {computed("root", {})};
  statement.stores = {{use(3, {m * k, k, 1, 0, 0}), 0}};
  return statement;
}

// A filter that is moved by 2 x 1 and dilated by 1 x 2, without padding.
Statement convolution() {
  const auto use = [](std::size_t view, std::vector<std::int64_t> strides) {
    return StatedUse{view, ElementType::kF32, 0, std::move(strides)};
  };
  Statement statement;
  // Loops of 2x7x6x4 by 6x3x2: image, row, column, filter; row, column and channel of the filter.
  statement.loops = {{LoopRole::kM, 2}, {LoopRole::kM, 3}, {LoopRole::kM, 4}, {LoopRole::kN, 6},
                     {LoopRole::kK, 3}, {LoopRole::kK, 2}, {LoopRole::kK, 4}};
  statement.operands = {use(0, {168, 48, 4, 0, 24, 8, 1}), use(1, {0, 0, 0, 1, 48, 24, 6})};
  statement.values = {computed("root", {})};
  statement.stores = {{use(2, {72, 24, 6, 1, 0, 0, 0}), 0}};
  return statement;
}

// Number of elements for which the evaluator differs from what the name says.
std::size_t differences(const NamedOperation& operation, Statement statement) {
  const ExpectedValues expected = expected_of(operation, 42, 2).value();
  problem::Dispatch dispatch;
  std::vector<std::span<const std::byte>> contents;
  const auto bind = [&](const problem::Array& array, bool output) {
    statement.views.push_back({static_cast<int>(contents.size()), 0, {}});
    dispatch.bindings.push_back(
        {.type = array.type, .bytes = static_cast<std::int64_t>(array.bytes.size())});
    contents.push_back(output ? std::span<const std::byte>() : array.data());
  };
  for (const problem::Array& input : expected.inputs) bind(input, false);
  bind(expected.output, true);
  const auto elements = measure::stated_elements(dispatch, statement, contents);
  EXPECT_TRUE(elements) << elements.error().message;
  const std::vector<float> wanted = measure::values_of<float>(expected.output);
  EXPECT_EQ(elements->front().values.size(), wanted.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double is = wanted[static_cast<std::size_t>(elements->front().places[i])];
    const double most = expected.tolerance.absolute + expected.tolerance.relative * std::abs(is);
    if (!(std::abs(elements->front().values[i] - is) <= most)) ++wrong;
  }
  return wrong;
}

struct EvaluatedCase {
  std::string name;
  Statement statement;
  std::vector<Statement> faults = {};  // as a faulty row of the table would compute it
};

// x / 2 (1 + erf(x / sqrt(2))), a residual, and a rectifier behind a product and a bias.
std::vector<EvaluatedCase> evaluated_cases() {
  const auto operation = [](const std::string& name) { return parse_operation(name).value(); };
  const std::string gelu = "matmul_bias_gelu_5x7x9_f32t_f32t_f32t";
  const std::string relu = "matmul_bias_relu_5x7x9_f32t_f32t_f32t";
  const std::string add = "matmul_bias_add_5x7x9_f32t_f32t_f32t";
  const std::string conv = "conv2d_2x7x6x4_6x3x2_s2x1_d1x2_p0x0_g1_f32nhwc_f32hwcf_f32nhwc";
  const std::string attention = "attention_2x6x10x8_f32t_f32t_f32t";
  StatedValue residual = computed("load", {});
  residual.use = {3, ElementType::kF32, 0, {7, 1, 0}};
  std::vector<EvaluatedCase> cases{
      {gelu, product_with_bias(operation(gelu),
                               {computed("arith.addf", {0, 1}), constant(M_SQRT1_2),
                                computed("arith.mulf", {2, 3}), computed("math.erf", {4}),
                                constant(1), computed("arith.addf", {5, 6}), constant(0.5),
                                computed("arith.mulf", {7, 8}), computed("arith.mulf", {2, 9})})},
      {relu, product_with_bias(operation(relu), {computed("arith.addf", {0, 1}), constant(0),
                                                 computed("arith.maximumf", {2, 3})})},
      {add, product_with_bias(operation(add), {computed("arith.addf", {0, 1}), residual,
                                               computed("arith.addf", {2, 3})})},
      {conv, convolution()},
      {attention, attention_of_heads(operation(attention))}};
  const std::map<std::string, const char*> instead{{"arith.addf", "arith.subf"},
                                                   {"arith.mulf", "arith.divf"},
                                                   {"arith.maximumf", "arith.minimumf"},
                                                   {"math.erf", "math.tanh"}};
  for (EvaluatedCase& each : cases) {
    for (std::size_t v = 0; v < each.statement.values.size(); ++v) {
      const auto other = instead.find(each.statement.values[v].operation.name());
      if (other == instead.end()) continue;
      each.faults.push_back(each.statement);
      each.faults.back().values[v].operation = other->second;
    }
    each.faults.push_back(each.statement);
    each.faults.back().loops.back().size -= 1;  // a term of each sum, or a key, is left out
  }
  cases.back().faults.push_back(cases.back().statement);
  cases.back().faults.back().scale *= 1.01;
  return cases;
}

TEST(Evaluator, ComputesWhatAnOperationsNameSays) {
  for (const EvaluatedCase& each : evaluated_cases())
    EXPECT_EQ(differences(parse_operation(each.name).value(), each.statement), 0u) << each.name;
}

TEST(Evaluator, IsFoundWrongByWhatAnOperationsNameSays) {
  std::size_t faults = 0;
  for (const EvaluatedCase& each : evaluated_cases())
    for (std::size_t f = 0; f < each.faults.size(); ++f, ++faults)
      EXPECT_GT(differences(parse_operation(each.name).value(), each.faults[f]), 0u)
          << each.name << ", fault " << f;
  EXPECT_EQ(faults, 16u);
}

}  // namespace
}  // namespace hone::profiler
