// What a space says of a configuration, and of wrong statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/configuration.h"
#include "space/space.h"

namespace hone::space {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SpaceBuilder tiles() {
  SpaceBuilder builder;
  const Expression m = builder.knob("tile_m", "rows of a tile", {16, 32, 48, 64});
  const Expression n = builder.knob("tile_n", "columns of a tile", {16, 32, 64});
  const Expression threads = builder.knob_range("threads", "threads per workgroup", 1, 1024);
  const Expression count = builder.auxiliary("subgroups", 1, 8);
  builder.require("divides", "96 rows are whole tiles ({} % {} == 0)", euclidean_mod(96, m) == 0,
                  {96, m});
  builder.require("subgroups", "tile_m is subgroups of 16 rows", m == count * 16);
  builder.require("threads", "threads == subgroups * 64", threads == count * 64);
  builder.prefer("registers", "a tile of more than 1024 elements spills registers", m * n <= 1024);
  return builder;
}

Space built(const SpaceBuilder& builder) {
  auto space = builder.build();
  EXPECT_TRUE(space) << space.error().message;
  return *std::move(space);
}

std::vector<std::string> names(const std::vector<Violation>& violations) {
  std::vector<std::string> result;
  for (const Violation& violation : violations) result.push_back(violation.constraint);
  return result;
}

std::vector<Violation> checked(const Space& space, std::string_view text) {
  const auto configuration = parse_configuration(space, text);
  EXPECT_TRUE(configuration) << configuration.error().message;
  return space.check(*configuration);
}

template <class T>
std::string message(const Result<T>& result) {
  EXPECT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kInput);
  return result.error().message;
}

TEST(Check, FindsNothingWrongWithALegalConfiguration) {
  EXPECT_THAT(checked(built(tiles()), "tile_m=32,tile_n=32,threads=128"), IsEmpty());
}

TEST(Check, NamesEachBrokenConstraintWithTheValues) {
  const auto broken = checked(built(tiles()), "tile_m=64,tile_n=32,threads=256");
  ASSERT_THAT(names(broken), ElementsAre("divides", "registers"));
  EXPECT_EQ(broken[0].reason, "96 rows are whole tiles (96 % 64 == 0): tile_m = 64");
  EXPECT_EQ(broken[0].hardness, Hardness::kHard);
  EXPECT_EQ(broken[1].reason,
            "a tile of more than 1024 elements spills registers: tile_m = 64, tile_n = 32");
  EXPECT_EQ(broken[1].hardness, Hardness::kSoft);
}

TEST(Check, BlamesTheConstraintThatNoAuxiliaryValueKeepsWithThoseBefore) {
  const auto broken = checked(built(tiles()), "tile_m=32,tile_n=16,threads=64");
  ASSERT_THAT(names(broken), ElementsAre("threads"));
  EXPECT_EQ(broken[0].reason, "threads == subgroups * 64: threads = 64");
}

TEST(Check, SaysWhichValueIsNotInItsDomain) {
  const auto broken = built(tiles()).check({{24, 32, 128}});
  ASSERT_THAT(names(broken), ElementsAre("domain", "subgroups"));
  EXPECT_EQ(broken[0].reason, "tile_m is one of 16, 32, 48, 64: tile_m = 24");
}

TEST(Check, CountsDivisionByZeroAndMissingKeysAsBroken) {
  SpaceBuilder builder;
  const Expression a = builder.knob("a", "", {0, 1, 2});
  const Expression b = builder.knob("b", "", {0, 1});
  builder.require("mod", "a divides 4", euclidean_mod(4, a) == 0);
  builder.require("table", "b has a size", lookup(b, {1, 2}, {10, 20}) > 0);
  const Space space = built(builder);
  EXPECT_EQ(space.count().value, 2u);
  EXPECT_THAT(names(space.check({{0, 0}})), ElementsAre("mod", "table"));
}

TEST(Check, ADivisionThatNeedNotBeMadeBreaksNothing) {
  SpaceBuilder builder;
  const Expression a = builder.knob("a", "", {0, 1, 2, 3});
  builder.require("guarded", "", a == 0 || euclidean_mod(4, a) == 0);
  EXPECT_EQ(built(builder).count().value, 3u);
}

TEST(Relax, DropsSoftConstraintsByNameOrAll) {
  const Space space = built(tiles());
  // 16 x {16, 32, 64}, 32 x {16, 32} and 48 x 16; then all nine pairs.
  EXPECT_EQ(space.count().value, 6u);
  const auto relaxed = space.relax({"registers"});
  ASSERT_TRUE(relaxed);
  EXPECT_EQ(relaxed->count().value, 9u);
  EXPECT_EQ(space.relax({"all"})->count().value, 9u);
  EXPECT_EQ(relaxed->constraints().size(), 3u);
}

TEST(Relax, RefusesHardAndUnknownNames) {
  const Space space = built(tiles());
  EXPECT_THAT(message(space.relax({"divides"})), HasSubstr("'divides' is hard"));
  EXPECT_THAT(message(space.relax({"register"})), HasSubstr("did you mean 'registers'?"));
}

// Of 16, 32, 48 and 64 rows only 64 do not divide 96; with 16 columns they keep the soft rule.
TEST(Oppose, KeepsWhatBreaksOneRuleAndKeepsTheOthers) {
  SpaceBuilder builder = tiles();
  EXPECT_TRUE(builder.oppose("divides"));
  const Space outside = built(builder);
  ASSERT_EQ(outside.count().value, 1u);
  EXPECT_THAT(outside.at(0)->values, ElementsAre(64, 16, 256));
  EXPECT_FALSE(builder.oppose("registers"));  // soft: relax() drops it
  EXPECT_FALSE(builder.oppose("no such rule"));
}

TEST(Neighbours, DifferInOneKnobAndComputedOnesFollow) {
  const Space space = built(tiles());
  const auto at = parse_configuration(space, "tile_m=16,tile_n=16,threads=64");
  std::vector<std::string> found;
  for (const Configuration& neighbour : space.neighbours(*at)) {
    found.push_back(to_string(space, neighbour));
  }
  EXPECT_THAT(found,
              ElementsAre("tile_m=32,tile_n=16,threads=128", "tile_m=48,tile_n=16,threads=192",
                          "tile_m=16,tile_n=32,threads=64", "tile_m=16,tile_n=64,threads=64"));
}

TEST(ParseConfiguration, ReadsAnyOrderAndWritesTheKnobs) {
  const Space space = built(tiles());
  const auto configuration = parse_configuration(space, " threads=128, tile_n = 32,tile_m=32 ");
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(to_string(space, *configuration), "tile_m=32,tile_n=32,threads=128");
  const auto json = to_json(space, *configuration);
  EXPECT_EQ(json.dump(), R"({"tile_m":32,"tile_n":32,"threads":128})");
  EXPECT_EQ(*configuration_from_json(space, json), *configuration);
  EXPECT_EQ(*space.value(*configuration, "tile_n"), 32);
}

TEST(ParseConfiguration, SaysWhatIsWrong) {
  const Space space = built(tiles());
  const auto said = [&](std::string_view text) {
    return message(parse_configuration(space, text));
  };
  EXPECT_THAT(said("tile_mm=16"), HasSubstr("no knob is called 'tile_mm' (did you mean 'tile_m'"));
  EXPECT_THAT(said("tile_m=17"),
              HasSubstr("17 is no value of knob 'tile_m': allowed are 16, 32, 48, 64"));
  EXPECT_THAT(said("threads=0"), HasSubstr("allowed is 1 to 1024"));
  EXPECT_THAT(said("tile_m=16,threads=64"), HasSubstr("no value for tile_n"));
  EXPECT_THAT(said("tile_m=16,tile_m=32"), HasSubstr("'tile_m' is given twice"));
  EXPECT_THAT(said("tile_m"), HasSubstr("'tile_m' in a configuration is not NAME=VALUE"));
  EXPECT_THAT(said("tile_m=big"), HasSubstr("'big' is no integer"));
  EXPECT_THAT(said(""), HasSubstr("no value for tile_m, tile_n, threads"));
  EXPECT_THAT(message(configuration_from_json(space, nlohmann::ordered_json::parse("[1]"))),
              HasSubstr("not array"));
  EXPECT_THAT(
      message(configuration_from_json(space, nlohmann::ordered_json::parse(R"({"tile_m":"a"})"))),
      HasSubstr("knob 'tile_m' wants an integer"));
}

TEST(SpaceBuilder, RefusesWhatIsNoSpace) {
  SpaceBuilder twice;
  twice.knob("a", "", {1});
  twice.knob("a", "", {2});
  EXPECT_THAT(message(twice.build()), HasSubstr("'a' is stated twice"));

  SpaceBuilder empty;
  empty.knob("a", "", {});
  EXPECT_THAT(message(empty.build()), HasSubstr("domain of 'a' is empty"));

  SpaceBuilder other;
  const Expression foreign = other.knob("far", "", {1, 2});
  SpaceBuilder mixed;
  mixed.knob("near", "", {1, 2});
  mixed.require("c", "", foreign == 1);
  EXPECT_THAT(message(mixed.build()), HasSubstr("uses 'far', a variable of another space"));

  SpaceBuilder unbounded;
  const Expression a = unbounded.knob_range("a", "", 0, Value{1} << 40);
  const Expression b = unbounded.knob_range("b", "", 0, Value{1} << 40);
  unbounded.require("c", "", a * a <= b);
  EXPECT_THAT(message(unbounded.build()), HasSubstr("state tighter bounds"));
}

TEST(Knob, OfARangeIsNarrowedToWhatTheConstraintsLeave) {
  SpaceBuilder builder;
  const Expression tile = builder.knob_range("tile", "", 0, Value{1} << 40);
  builder.require("divides", "", euclidean_mod(96, tile) == 0);
  builder.require("large", "", tile >= 16);
  const Space space = built(builder);
  EXPECT_THAT(space.knobs()[0].values, ElementsAre(16, 24, 32, 48, 96));
  EXPECT_EQ(space.count().value, 5u);
}

TEST(Knob, KeepsTheStatedOrderInEnumeration) {
  SpaceBuilder builder;
  builder.knob("a", "", {8, 2, 4, 2});
  const Space space = built(builder);
  EXPECT_EQ(space.at(0)->values, std::vector<Value>{8});
  EXPECT_EQ(space.at(1)->values, std::vector<Value>{2});
  EXPECT_EQ(space.at(2)->values, std::vector<Value>{4});
  EXPECT_EQ(space.count().value, 3u);
}

}  // namespace
}  // namespace hone::space
