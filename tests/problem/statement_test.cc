// What a dispatch states of itself, read back and refused.
#include "problem/statement.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "problem/dispatch.h"

namespace hone::problem {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// 4 x 6 x 8 with a bias behind it, as IREE's half states it; B's view begins where a word says.
json product() {
  return json::parse(R"({
    "kind": "contraction", "entry": "main$dispatch_0", "bindings": 3, "constants": 1,
    "layout": "#hal.pipeline.layout<constants = 1>",
    "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64},
              {"binding": 1, "offset": 128, "words": [0], "multiple": 64},
              {"binding": 2, "offset": 0, "words": [], "multiple": 64}],
    "loops": [{"size": 4, "role": "m"}, {"size": 6, "role": "n"}, {"size": 8, "role": "k"}],
    "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [8, 0, 1]},
    "rhs": {"view": 1, "type": "f16", "offset": 5, "strides": [0, 1, 6]},
    "accumulator": "f32", "start": "-inf",
    "values": [{"op": "root", "type": "f32", "operands": []},
               {"op": "table", "type": "f32", "offset": 0, "strides": [0, 1, 0], "operands": [],
                "words": [1, 2, 3, 4, 5, 6]},
               {"op": "constant", "type": "f32", "value": 0.5, "operands": []},
               {"op": "arith.cmpf", "type": "i1", "operands": [0, 1], "predicate": "olt"},
               {"op": "arith.select", "type": "f32", "operands": [3, 0, 2]},
               {"op": "constant", "type": "i64", "value": 9007199254740993, "operands": []}],
    "stores": [{"view": 2, "type": "f32", "offset": 0, "strides": [6, 1, 0], "value": 4}]})");
}

std::string why_not(const json& said) {
  const auto statement = read_statement(said.dump());
  return statement ? "it is read" : statement.error().message;
}

// Query, key and value of one input: C1 = A B1, C2 = A B2.
TEST(Statement, HasSeveralProductsOfOneLeftOperand) {
  json said = product();
  said["rhs1"] = said["rhs"];
  said["rhs1"]["offset"] = 53;
  said["values"].push_back(
      {{"op", "root"}, {"type", "f32"}, {"operands", json::array()}, {"product", 1}});
  const auto statement = read_statement(said.dump());
  ASSERT_TRUE(statement) << statement.error().message;
  EXPECT_EQ(statement->products(), 2u);
  EXPECT_EQ(statement->operands[2].offset, 53);
  EXPECT_EQ(statement->values.back().product, 1u);
  EXPECT_EQ(json(*statement), said);
  said["values"].back()["product"] = 2;
  EXPECT_THAT(why_not(said), HasSubstr("it refers to what is not there"));
}

TEST(Statement, IsReadAsItWasWritten) {
  const auto statement = read_statement(product().dump());
  ASSERT_TRUE(statement) << statement.error().message;
  EXPECT_EQ(statement->kind, Statement::Kind::kContraction);
  EXPECT_EQ(statement->entry, "main$dispatch_0");
  EXPECT_EQ(statement->bindings, 3);
  EXPECT_EQ(statement->constants, 1);
  EXPECT_EQ(statement->start, -INFINITY);
  ASSERT_EQ(statement->operands.size(), 2u);
  EXPECT_EQ(statement->operands[1].offset, 5);
  EXPECT_THAT(statement->operands[1].strides, ElementsAre(0, 1, 6));
  EXPECT_THAT(statement->views[1].words, ElementsAre(0));
  EXPECT_TRUE(statement->loops[2].is_reduced());
  EXPECT_FALSE(statement->loops[0].is_reduced());
  EXPECT_THAT(statement->values[1].words, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(statement->values[3].predicate, "olt");
  EXPECT_THAT(statement->values[4].operands, ElementsAre(3, 0, 2));
  EXPECT_EQ(statement->stores[0].value, 4u);
  EXPECT_EQ(statement->layout, "#hal.pipeline.layout<constants = 1>");
  EXPECT_EQ(statement->views[2].multiple, 64);
}

// Workers in Python and stores of an earlier hone have the same text: 2^53 + 1 is no double.
TEST(Statement, IsTheSameTextWhereItLeavesTheProcess) {
  EXPECT_EQ(statement_text(statement_from(product().dump())), product().dump());
  json other = {{"why_not", "it sorts"}, {"entry", "main"}, {"bindings", 2}, {"constants", 0}};
  EXPECT_EQ(statement_text(statement_from(other.dump())), other.dump());
  EXPECT_EQ(statement_text(statement_from("")), "");
}

TEST(Statement, OfADispatchIsReadOnce) {
  Dispatch dispatch;
  dispatch.statement = statement_from(product().dump());
  json stored = dispatch;
  EXPECT_EQ(stored.at("statement"), product().dump());
  EXPECT_EQ(stored.get<Dispatch>().statement, dispatch.statement);
  stored["statement"] = "{";
  EXPECT_THAT(stated(stored.get<Dispatch>().statement).error().message,
              HasSubstr("the statement cannot be read"));
  stored.erase("statement");
  EXPECT_EQ(stored.get<Dispatch>().statement, std::nullopt);
}

TEST(Statement, OfAttentionHasAMaskOrNone) {
  json said = product();
  said["kind"] = "attention";
  said["loops"][2]["role"] = "k2";
  said["scale"] = 0.125;
  for (const char* const name : {"query", "key", "value"}) said[name] = said["lhs"];
  const auto plain = read_statement(said.dump());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->operands.size(), 3u);
  EXPECT_EQ(plain->scale, 0.125);
  said["mask"] = said["lhs"];
  said["mask"]["type"] = "i1";
  const auto masked = read_statement(said.dump());
  ASSERT_TRUE(masked) << masked.error().message;
  EXPECT_EQ(masked->operands.at(3).type, ElementType::kI1);
  EXPECT_EQ(read_statement(json(*masked).dump()), *masked);
  EXPECT_EQ(masked->steps(LoopRole::kN), 6);
  EXPECT_EQ(masked->steps(LoopRole::kBatch), 1);
}

// The square sum of each row, and each element by it.
json rows() {
  return json::parse(R"({
    "kind": "elementwise", "entry": "main$dispatch_0", "bindings": 2, "constants": 0,
    "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64},
              {"binding": 1, "offset": 0, "words": [], "multiple": 64}],
    "loops": [{"size": 4, "role": "m"}, {"size": 6, "role": "k"}],
    "values": [{"op": "load", "type": "f32", "view": 0, "offset": 0, "strides": [6, 1], "operands": []},
               {"op": "arith.mulf", "type": "f32", "operands": [0, 0]},
               {"op": "reduce", "type": "f32", "operands": [1], "combines": "arith.addf", "start": 0.0},
               {"op": "reduce", "type": "f32", "operands": [0], "combines": "arith.maximumf",
                "start": "-inf"},
               {"op": "arith.divf", "type": "f32", "operands": [0, 2]}],
    "stores": [{"view": 1, "type": "f32", "offset": 0, "strides": [6, 1], "value": 4}]})");
}

TEST(Statement, MayHaveReductionsInsteadOfARoot) {
  const auto statement = read_statement(rows().dump());
  ASSERT_TRUE(statement) << statement.error().message;
  EXPECT_EQ(json(*statement), rows());
  EXPECT_EQ(statement->kind, Statement::Kind::kElementwise);
  EXPECT_TRUE(statement->reduces());
  EXPECT_FALSE(statement->contracts());
  EXPECT_EQ(statement->products(), 0u);
  EXPECT_EQ(statement->values[2].combines.name(), "arith.addf");
  EXPECT_EQ(statement->values[3].constant, -INFINITY);
}

TEST(Statement, OfAnotherFormThanItsKindIsRefused) {
  json said = rows();
  said["loops"][1]["role"] = "n";
  EXPECT_THAT(why_not(said), HasSubstr("'n' is no role"));
  said = rows();
  said["values"][2]["operands"] = {0, 1};
  EXPECT_THAT(why_not(said), HasSubstr("a reduction has one operand"));
  said = rows();
  said["values"][1] = {{"op", "root"}, {"type", "f32"}, {"operands", json::array()}};
  EXPECT_THAT(why_not(said), HasSubstr("there is no root"));
  said = product();
  said["values"][2] = rows()["values"][2];
  EXPECT_THAT(why_not(said), HasSubstr("a reduction behind a root"));
}

// A store may come from anybody.
TEST(Statement, ThatDoesNotHoldTogetherIsRefused) {
  EXPECT_EQ(why_not({{"why_not", "it has no root operation"}}), "it has no root operation");
  EXPECT_THAT(read_statement("").error().message, HasSubstr("nobody has stated"));
  json said = product();
  said["stores"][0]["value"] = 6;
  EXPECT_THAT(why_not(said), HasSubstr("refers to what is not there"));
  said = product();
  said["values"][3]["operands"] = {0, 3};  // itself
  EXPECT_THAT(why_not(said), HasSubstr("refers to what is not there"));
  said = product();
  said["rhs"]["view"] = 3;
  EXPECT_THAT(why_not(said), HasSubstr("refers to what is not there"));
  said = product();
  said["lhs"]["strides"] = {8, 0};
  EXPECT_THAT(why_not(said), HasSubstr("a stride for each loop"));
  said = product();
  said["loops"][1]["size"] = 0;
  EXPECT_THAT(why_not(said), HasSubstr("a loop of no steps"));
  said = product();
  said["lhs"]["type"] = "f12";
  EXPECT_THAT(why_not(said), HasSubstr("'f12' is no element type"));
  said = product();
  said["loops"][2]["role"] = "k1";
  EXPECT_THAT(why_not(said), HasSubstr("'k1' is no role"));
  said = product();
  said["stores"].clear();
  EXPECT_THAT(why_not(said), HasSubstr("nothing that it computes is stored"));
  said = product();
  said["kind"] = "sort";
  EXPECT_THAT(why_not(said), HasSubstr("'sort' is no kind"));
}

// Operands of f16, in vectors of 8 elements where they lie so.
TEST(Statement, SaysHowManyElementsOfAnOperandCanBeLoadedAtOnce) {
  const auto at_once = [](const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& strides, std::int64_t offset = 0) {
    Statement statement;
    for (const std::int64_t size : sizes) statement.loops.push_back({LoopRole::kM, size});
    statement.views.emplace_back().multiple = 64;
    return loaded_at_once(statement,
                          {.type = ElementType::kF16, .offset = offset, .strides = strides}, 8);
  };
  // An image of 256 channels of 16 x 16 pixels, and 256 filters of 3 x 3: channels first, and last.
  const std::vector<std::int64_t> first = {256, 14, 14, 256, 3, 3};
  EXPECT_EQ(at_once(first, {0, 16, 1, 256, 16, 1}), 1) << "pixels begin at any of three";
  EXPECT_EQ(at_once(first, {2304, 0, 0, 9, 3, 1}), 1) << "three weights of a filter lie together";
  const std::vector<std::int64_t> last = {14, 14, 256, 3, 3, 256};
  EXPECT_EQ(at_once(last, {4096, 256, 0, 4096, 256, 1}), 8);
  EXPECT_EQ(at_once(last, {0, 0, 1, 196608, 65536, 256}), 8);
  // Matrices of 49 and of 196 rows, by columns.
  EXPECT_EQ(at_once({49, 512, 2048}, {1, 0, 49}), 1);
  EXPECT_EQ(at_once({196, 512, 1024}, {1, 0, 196}), 4);
  EXPECT_EQ(at_once({49, 512, 2048}, {2048, 0, 1}), 8);
  EXPECT_EQ(at_once({49, 512, 2048}, {2048, 0, 1}, /*offset=*/2), 2);
}

}  // namespace
}  // namespace hone::problem
