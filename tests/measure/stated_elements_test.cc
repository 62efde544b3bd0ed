// Elements of a stated dispatch in double precision, beside values worked out by hand.
#include "measure/stated_elements.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>

#include "measure/half.h"

namespace hone::measure {
namespace {

using problem::Access;
using problem::BindingUse;
using problem::ElementType;
using problem::LoopRole;
using problem::Statement;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> bytes_of(ElementType type, const std::vector<double>& values) {
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  std::vector<std::byte> bytes(size * values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(bytes.data() + i * size, type, values[i]);
  return bytes;
}

// A dispatch of these bindings, the last of them what it writes.
class Stated {
 public:
  void binds(ElementType type, const std::vector<double>& values) {
    contents_.push_back(bytes_of(type, values));
    const auto count = static_cast<std::int64_t>(values.size());
    dispatch.bindings.push_back({Access::kReadOnly,
                                 BindingUse::kRootInput,
                                 {type, {count}},
                                 count * problem::byte_size(type)});
  }
  void writes(ElementType type, std::int64_t count) {
    contents_.emplace_back();
    dispatch.bindings.push_back({Access::kWriteOnly,
                                 BindingUse::kOutput,
                                 {type, {count}},
                                 count * problem::byte_size(type)});
  }

  Result<std::vector<StatedElements>> run(const ElementSample& sample = {}) const {
    std::vector<std::span<const std::byte>> inputs(contents_.begin(), contents_.end());
    return stated_elements(dispatch, statement, inputs, sample);
  }
  std::vector<double> values() const {
    const auto found = run();
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->front().values : std::vector<double>();
  }

  problem::Dispatch dispatch;
  Statement statement;

 private:
  std::vector<std::vector<std::byte>> contents_;
};

problem::StatedValue root(ElementType type = ElementType::kF32) {
  return {"root", type};
}

// C = A B, 2 x 2 x 3: A = [1 2 3; 4 5 6], B = [1 2; 3 4; 5 6], C = [22 28; 49 64].
Stated product() {
  Stated stated;
  stated.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
  stated.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
  stated.writes(ElementType::kF32, 4);
  Statement& said = stated.statement;
  said.loops = {{LoopRole::kM, 2}, {LoopRole::kN, 2}, {LoopRole::kK, 3}};
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}};
  said.operands = {{0, ElementType::kF32, 0, {3, 0, 1}}, {1, ElementType::kF32, 0, {0, 1, 2}}};
  said.values = {root()};
  said.stores = {{{2, ElementType::kF32, 0, {2, 1, 0}}, 0}};
  return stated;
}

TEST(StatedElements, AddUpProducts) {
  const Stated stated = product();
  const auto found = stated.run();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->front().binding, 2);
  EXPECT_THAT(found->front().places, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(found->front().values, ElementsAre(22, 28, 49, 64));
}

// B1 = 2 B: C1 = 2 C, and C1 - C = C.
TEST(StatedElements, AddUpEachOfSeveralProducts) {
  Stated stated;
  stated.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
  stated.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
  stated.binds(ElementType::kF32, {2, 4, 6, 8, 10, 12});
  stated.writes(ElementType::kF32, 4);
  stated.writes(ElementType::kF32, 4);
  Statement& said = stated.statement;
  said.loops = product().statement.loops;
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}, {3, 0, {}}, {4, 0, {}}};
  said.operands = product().statement.operands;
  said.operands.push_back({2, ElementType::kF32, 0, {0, 1, 2}});
  said.values = {root(), root(), {"arith.subf", ElementType::kF32, {1, 0}}};
  said.values[1].product = 1;
  said.stores = {{{3, ElementType::kF32, 0, {2, 1, 0}}, 1},
                 {{4, ElementType::kF32, 0, {2, 1, 0}}, 2}};
  const auto found = stated.run();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->at(0).values, ElementsAre(44, 56, 98, 128));
  EXPECT_THAT(found->at(1).values, ElementsAre(22, 28, 49, 64));
}

TEST(StatedElements, BeginWhereTheLaunchSays) {
  Stated stated = product();
  stated.statement.start = 0.5;
  // B is stored behind four other elements, by rows of n: [1 3 5; 2 4 6].
  stated = [&] {
    Stated other;
    other.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
    other.binds(ElementType::kF32, {9, 9, 9, 9, 1, 3, 5, 2, 4, 6});
    other.writes(ElementType::kF32, 4);
    other.statement = stated.statement;
    other.statement.views[1] = {1, 8, {1}};  // 8 bytes and what word 1 says
    other.statement.operands[1].strides = {0, 3, 1};
    other.dispatch.constants = {77, 8};
    return other;
  }();
  EXPECT_THAT(stated.values(), ElementsAre(22.5, 28.5, 49.5, 64.5));
}

// Two views of one of the kernel's bindings are two bindings of the dispatch.
TEST(StatedElements, FindTheViewOfABinding) {
  Stated stated = product();
  stated.dispatch.bindings[0].ordinal = 0;
  stated.dispatch.bindings[0].offset = 64;
  stated.dispatch.bindings[1].ordinal = 0;
  stated.dispatch.bindings[1].offset = 4096;
  stated.dispatch.bindings[2].ordinal = 1;
  stated.statement.views = {{0, 64, {}}, {0, 4096, {}}, {1, 0, {}}};
  EXPECT_THAT(stated.values(), ElementsAre(22, 28, 49, 64));
  stated.statement.views[1].offset = 8192;
  EXPECT_THAT(stated.run().error().message, HasSubstr("no binding of the dispatch"));
}

TEST(StatedElements, GoThroughWhatIsBehindTheRoot) {
  Stated stated = product();
  problem::StatedValue bias{
      .operation = "table", .type = ElementType::kF32, .use = {0, ElementType::kF32, 0, {0, 1, 0}}};
  const auto words = bytes_of(ElementType::kF32, {-30, 2});
  bias.words.resize(2);
  std::memcpy(bias.words.data(), words.data(), words.size());
  stated.statement.values = {root(),
                             bias,
                             {"arith.addf", ElementType::kF32, {0, 1}},
                             {"constant", ElementType::kF32},
                             {"arith.maximumf", ElementType::kF32, {2, 3}},
                             {"arith.truncf", ElementType::kF16, {4}}};
  stated.statement.stores[0].value = 5;
  // [22-30 28+2; 49-30 64+2], below zero none.
  EXPECT_THAT(stated.values(), ElementsAre(0, 30, 19, 66));
}

// What is computed is not rounded: 2^-30 of f16's 1 stays.
TEST(StatedElements, AreNotRoundedOnTheWay) {
  Stated stated;
  stated.binds(ElementType::kF16, {1, std::ldexp(1, -14)});
  stated.binds(ElementType::kF16, {1, std::ldexp(1, -14)});
  stated.writes(ElementType::kF16, 1);
  Statement& said = stated.statement;
  said.loops = {{LoopRole::kK, 2}};
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}};
  said.operands = {{0, ElementType::kF16, 0, {1}}, {1, ElementType::kF16, 0, {1}}};
  said.values = {root(ElementType::kF16)};
  said.stores = {{{2, ElementType::kF16, 0, {0}}, 0}};
  EXPECT_THAT(stated.values(), ElementsAre(1 + std::ldexp(1, -28)));
}

// Two queries, two keys, heads of one element, values of two; scale 1/2. Query 0 is 2: scores 1 and
// 0, weights e and 1 by their sum. The mask leaves query 1 with key 1 alone.
TEST(StatedElements, WeighValuesByScores) {
  Stated stated;
  stated.binds(ElementType::kF32, {2, 8});
  stated.binds(ElementType::kF32, {1, 0});
  stated.binds(ElementType::kF32, {1, 2, 3, 4});
  stated.binds(ElementType::kI8, {1, 3, 2, 1});  // the lowest bit counts
  stated.writes(ElementType::kF32, 4);
  Statement& said = stated.statement;
  said.kind = Statement::Kind::kAttention;
  said.scale = 0.5;
  said.loops = {{LoopRole::kM, 2}, {LoopRole::kK1, 1}, {LoopRole::kK2, 2}, {LoopRole::kN, 2}};
  for (int view = 0; view < 5; ++view) said.views.push_back({view, 0, {}});
  said.operands = {{0, ElementType::kF32, 0, {1, 1, 0, 0}},
                   {1, ElementType::kF32, 0, {0, 1, 1, 0}},
                   {2, ElementType::kF32, 0, {0, 0, 2, 1}},
                   {3, ElementType::kI1, 0, {2, 0, 1, 0}}};
  said.values = {root()};
  said.stores = {{{4, ElementType::kF32, 0, {2, 0, 0, 1}}, 0}};
  const double first = std::exp(1) / (std::exp(1) + 1), second = 1 - first;
  EXPECT_THAT(stated.values(),
              ElementsAre(DoubleNear(first + 3 * second, 1e-15),
                          DoubleNear(2 * first + 4 * second, 1e-15), DoubleEq(3), DoubleEq(4)));
}

problem::StatedValue loaded(std::size_t view, std::vector<std::int64_t> strides) {
  return {.operation = "load", .use = {view, ElementType::kF32, 0, std::move(strides)}};
}

problem::StatedValue reduced(const char* combines, std::size_t value, long double start) {
  problem::StatedValue made{"reduce", ElementType::kF32, {value}};
  made.combines = combines;
  made.constant = start;
  return made;
}

// x = [1 2 3; 4 5 6], a bias for each column and a factor for each row; stored transposed.
TEST(StatedElements, HaveNoRoot) {
  Stated stated;
  stated.binds(ElementType::kF32, {1, 2, 3, 4, 5, 6});
  stated.binds(ElementType::kF32, {10, 20, 30});
  stated.binds(ElementType::kF32, {1, -1});
  stated.writes(ElementType::kF32, 6);
  Statement& said = stated.statement;
  said.kind = Statement::Kind::kElementwise;
  said.loops = {{LoopRole::kM, 2}, {LoopRole::kN, 3}};
  for (int view = 0; view < 4; ++view) said.views.push_back({view, 0, {}});
  said.values = {loaded(0, {3, 1}),
                 loaded(1, {0, 1}),
                 loaded(2, {1, 0}),
                 {"arith.addf", ElementType::kF32, {0, 1}},
                 {"arith.mulf", ElementType::kF32, {3, 2}}};
  said.stores = {{{3, ElementType::kF32, 0, {1, 2}}, 4}};
  const auto found = stated.run();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->front().values, ElementsAre(11, 22, 33, -14, -25, -36));
  EXPECT_THAT(found->front().places, ElementsAre(0, 2, 4, 1, 3, 5));
}

// The mean of each row of [1 2 6; 4 5 12], and what is left without it; x and both results.
Stated centred() {
  Stated stated;
  stated.binds(ElementType::kF32, {1, 2, 6, 4, 5, 12});
  stated.writes(ElementType::kF32, 6);
  stated.writes(ElementType::kF32, 2);
  Statement& said = stated.statement;
  said.kind = Statement::Kind::kElementwise;
  said.loops = {{LoopRole::kM, 2}, {LoopRole::kK, 3}};
  for (int view = 0; view < 3; ++view) said.views.push_back({view, 0, {}});
  said.values = {loaded(0, {3, 1}),
                 reduced("arith.addf", 0, 0),
                 {"constant", ElementType::kF32},
                 {"arith.divf", ElementType::kF32, {1, 2}},
                 {"arith.subf", ElementType::kF32, {0, 3}}};
  said.values[2].constant = 3;
  said.stores = {{{1, ElementType::kF32, 0, {3, 1}}, 4}, {{2, ElementType::kF32, 0, {1, 0}}, 3}};
  return stated;
}

TEST(StatedElements, AreReducedAlongRows) {
  Stated stated = centred();
  const auto found = stated.run();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->at(0).values, ElementsAre(-2, -1, 3, -3, -2, 5));
  EXPECT_THAT(found->at(1).values, ElementsAre(3, 3, 3, 7, 7, 7));
  // Where nothing is stored for each element, there is one of each row.
  stated.statement.stores = {stated.statement.stores[1]};
  EXPECT_THAT(stated.values(), ElementsAre(3, 7));
}

// The largest of what the mean leaves of each row.
TEST(StatedElements, AReductionMayNeedAnother) {
  Stated stated = centred();
  stated.statement.values.push_back(reduced("arith.maximumf", 4, -INFINITY));
  stated.statement.stores = {{{2, ElementType::kF32, 0, {1, 0}}, 5}};
  EXPECT_THAT(stated.values(), ElementsAre(3, 5));
  stated.statement.values.back().constant = 4;
  EXPECT_THAT(stated.values(), ElementsAre(4, 5));
}

// Another axis, a dropped tail, an identity that is none, a broadcast too many, another
// combination: each changes what is expected of a kernel.
TEST(StatedElements, PlantedFaultsOfElementsAndRowsChangeThem) {
  const std::vector<double> right = centred().values();
  const std::vector<void (*)(Statement&)> faults = {
      [](Statement& said) {
        said.values[0].use.strides = {1, 2};
      },
      [](Statement& said) { said.loops[1].size = 2; },
      [](Statement& said) { said.values[1].constant = 1; },
      [](Statement& said) {
        said.values[0].use.strides = {0, 1};
      },
      [](Statement& said) { said.values[1].combines = "arith.mulf"; },
      [](Statement& said) { said.stores[0].value = 0; }};
  for (std::size_t f = 0; f < faults.size(); ++f) {
    Stated stated = centred();
    faults[f](stated.statement);
    EXPECT_NE(stated.values(), right) << f;
  }
}

TEST(StatedElements, AreASampleWithBothEnds) {
  Stated stated;
  stated.binds(ElementType::kF32, std::vector<double>(1000, 1));
  stated.binds(ElementType::kF32, std::vector<double>(500, 2));
  stated.writes(ElementType::kF32, 500000);
  Statement& said = stated.statement;
  said.loops = {{LoopRole::kM, 1000}, {LoopRole::kN, 500}, {LoopRole::kK, 1}};
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}};
  said.operands = {{0, ElementType::kF32, 0, {1, 0, 1}}, {1, ElementType::kF32, 0, {0, 1, 1}}};
  said.values = {root()};
  said.stores = {{{2, ElementType::kF32, 0, {500, 1, 0}}, 0}};
  const auto found = stated.run({.elements = 100});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->front().places.size(), 100u);
  EXPECT_EQ(found->front().places[0], 0);
  EXPECT_EQ(found->front().places[1], 499999);
  EXPECT_EQ(stated.run({.products = 40})->front().places.size(), 40u);
  EXPECT_NE(stated.run({.elements = 9, .seed = 2})->front().places,
            stated.run({.elements = 9, .seed = 3})->front().places);
}

TEST(StatedElements, DoNotReachBeyondABinding) {
  Stated stated = product();
  stated.statement.operands[0].offset = 1;
  EXPECT_THAT(stated.run().error().message, HasSubstr("beyond the end of binding 0"));
  stated = product();
  stated.statement.stores[0].use.strides = {3, 1, 0};
  EXPECT_THAT(stated.run().error().message, HasSubstr("beyond the end of binding 2"));
  stated = product();
  stated.statement.views[1] = {1, 0, {3}};
  EXPECT_THAT(stated.run().error().message, HasSubstr("constant 3 says, and there are 0"));
  stated = product();
  stated.statement.values.push_back({"arith.remf", ElementType::kF32, {0, 0}});
  EXPECT_THAT(stated.run().error().message, HasSubstr("arith.remf"));
}

struct OperationCase {
  const char* operation;
  std::vector<double> operands;
  double result;
  ElementType from = ElementType::kF32, to = ElementType::kF32;
  const char* predicate = "";
};

TEST(StatedValue, IsThatOfMlirsOperation) {
  using enum ElementType;
  const std::vector<OperationCase> cases{
      {"arith.divf", {1, 8}, 0.125},
      {"arith.maximumf", {NAN, 1}, NAN},
      {"arith.maxnumf", {NAN, 1}, 1},
      {"arith.select", {0, 3, 4}, 4},
      {"math.rsqrt", {16}, 0.25},
      {"math.roundeven", {2.5}, 2},
      {"math.round", {2.5}, 3},
      {"math.fma", {2, 3, 1}, 7},
      {"arith.cmpf", {1, 2}, 1, kF32, kI1, "olt"},
      {"arith.cmpf", {NAN, 2}, 0, kF32, kI1, "olt"},
      {"arith.cmpf", {NAN, 2}, 1, kF32, kI1, "ult"},
      {"arith.cmpf", {NAN, 2}, 1, kF32, kI1, "uno"},
      {"arith.cmpi", {-1, 2}, 1, kI8, kI1, "slt"},
      {"arith.cmpi", {-1, 2}, 0, kI8, kI1, "ult"},  // 255
      {"arith.cmpi", {3, 3}, 1, kI8, kI1, "eq"},
      {"arith.addi", {1, 1}, 0, kI1, kI1},
      {"arith.andi", {6, 3}, 2, kI32, kI32},
      {"arith.sitofp", {1}, -1, kI1, kF32},
      {"arith.uitofp", {1}, 1, kI1, kF32},
      {"arith.uitofp", {-1}, 255, kI8, kF32},
      {"arith.extui", {-2}, 254, kI8, kI32},
      {"arith.trunci", {300}, 44, kI32, kI8},
      {"arith.trunci", {200}, -56, kI32, kI8},
      {"arith.trunci", {3}, 1, kI32, kI1},
      {"arith.fptosi", {-2.7}, -2, kF32, kI32},
  };
  for (const OperationCase& each : cases) {
    const problem::StatedValue value{
        .operation = each.operation, .type = each.to, .predicate = each.predicate};
    const auto result = stated_value(value, each.operands, each.from);
    ASSERT_TRUE(result) << result.error().message;
    if (std::isnan(each.result))
      EXPECT_TRUE(std::isnan(*result)) << each.operation;
    else
      EXPECT_EQ(*result, each.result) << each.operation << " " << each.predicate;
  }
}

}  // namespace
}  // namespace hone::measure
